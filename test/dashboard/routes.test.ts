// The dashboard can do what the API can: it calls every route that is meant for people.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { routes } from '../../src/http/contract.ts';

const called = readFileSync(join(import.meta.dirname, '../../dashboard/src/api.ts'), 'utf8');

/** Routes that the dashboard does not need, with the reason. */
const left: Readonly<Record<string, string>> = {
  metrics: 'read by monitoring',
  openapi: 'read by programs',
  stream: 'read as a stream of events, not by call',
  streamRun: 'one run is watched through the stream of all events',
  streamOutput: 'read as a stream of events, not by call',
  getOutput: 'the page shows the stream of the output',
  completeHandOff: 'needs the token of the hand-off; people complete a run by its id',
  failHandOff: 'needs the token of the hand-off; people fail a run by its id',
  createFlow: 'a flow is a program, and is created by one',
  getLimit: 'the list of limits has the same',
  getAlert: 'the list of alerts has the same',
  getView: 'the list of views has the same',
};

const isOfWorkers = (path: string): boolean => path.includes('/work/');

test('the dashboard calls every route that is meant for people', () => {
  const missing = Object.entries(routes)
    .filter(([name, { path }]) => !isOfWorkers(path) && !(name in left) && !new RegExp(`\\b${name}: '`).test(called))
    .map(([name]) => name);
  expect(missing).toEqual([]);
});

test('every route that the dashboard leaves out exists, and is not called', () => {
  expect(Object.keys(left).filter((name) => !(name in routes) || new RegExp(`\\b${name}: '`).test(called))).toEqual([]);
});
