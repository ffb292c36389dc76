/** Overview. */
import type { JSX } from 'preact';
import type { Page } from '../page.ts';

function Overview(): JSX.Element {
  return <h1>Overview</h1>;
}

export const overviewPage: Page = {
  path: '/', title: 'Overview', view: Overview, nav: { icon: 'overview', key: 'o', group: 'Work' },
};
