/** Run. */
import type { JSX } from 'preact';
import type { Page, PageProps } from '../page.ts';

function Run({ params }: PageProps): JSX.Element {
  return <h1>Run {params['id']}</h1>;
}

export const runPage: Page = { path: '/runs/:id', title: 'Run', view: Run };
