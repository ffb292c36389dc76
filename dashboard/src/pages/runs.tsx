/** Runs. */
import type { JSX } from 'preact';
import type { Page } from '../page.ts';

function Runs(): JSX.Element {
  return <h1>Runs</h1>;
}

export const runsPage: Page = {
  path: '/runs', title: 'Runs', view: Runs, nav: { icon: 'runs', key: 'r', group: 'Work' },
};
