/** The pages of the reference, each made from the code it tells of. */
import { cliPage } from './cli.ts';
import { eventsPage } from './events.ts';
import { httpPage } from './http.ts';
import { metricsPage } from './metrics.ts';
import { optionsPage } from './options.ts';
import { refusalsPage } from './refusals.ts';

export const folder = 'docs/reference';

export const pages: Readonly<Record<string, () => string>> = {
  'options.md': optionsPage,
  'cli.md': cliPage,
  'http.md': httpPage,
  'refusals.md': refusalsPage,
  'metrics.md': metricsPage,
  'events.md': eventsPage,
};
