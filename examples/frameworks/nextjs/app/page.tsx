// The home page.
import type { ReactNode } from 'react';

export default function Home(): ReactNode {
  return <p>POST /users welcomes somebody.</p>;
}
