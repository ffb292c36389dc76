// Types of flows: results fit the inputs that get them; nothing here is ever called.
import { z } from 'zod';
import { every, jobDef, jobSequence, jobType, type Engine, type RunHandle } from '../../src/index.ts';
import { exactly } from './same.ts';

declare const engine: Engine;
declare const stored: RunHandle<{ total: number }>;

const extract = jobType('extract', {
  input: z.object({ day: z.string() }),
  run: () => ({ rows: [1, 2], name: 'x', at: { zone: 'UTC' } }),
});
const load = jobType('load', {
  input: z.object({ name: z.string(), rows: z.array(z.number()), zone: z.string().optional() }), run: () => 7,
});
const note = jobType('note', { input: z.object({ text: z.string().nullable() }), run: () => 'noted' });
const count = jobType('count', { input: z.number(), run: () => '' });
const plain = jobType('plain', { run: () => '' });

export const sound = async (): Promise<void> => {
  const flow = await engine.createFlow((f) => {
    const first = f.run(extract, { input: { day: 'monday' } });
    const second = f.run(load, { after: [first, stored, 4711], input: { name: first.result.name, rows: first.result.rows } });
    f.run(load, { input: { name: 'x', rows: [1, first.result.rows[0]!], zone: first.result.at.zone }, afterFailure: 'wait' });
    f.run(count, { input: second.result, priority: 3 });
    f.run(note, { on: 'ended', after: second, input: { text: f.run(plain).resultOrNull } });
    f.run(plain, { after: first, on: 'failed' });
    f.run(count, { input: f.existing(stored).result.total });
    exactly<Promise<number>>()(flow.handle(second).result());
  });
  await engine.createJobRun(plain, { after: [stored, 4711], afterFailure: 'cancel' });
  await engine.in({}).createFlow((f) => void f.run(plain));
};

export const wrong = async (): Promise<void> => {
  await engine.createFlow((f) => {
    const first = f.run(extract, { input: { day: 'monday' } });
    // @ts-expect-error -- a list of rows is no name
    f.run(load, { input: { name: first.result.rows, rows: [] } });
    // @ts-expect-error -- the result has no such member
    f.run(count, { input: first.result.total });
    // @ts-expect-error -- the input is required
    f.run(count, { after: first });
    // @ts-expect-error -- the run may start without a result: it needs resultOrNull
    f.run(note, { on: 'ended', input: { text: first.result.name } });
    // @ts-expect-error -- null is no number
    f.run(count, { afterFailure: 'run', input: f.run(count, { input: 1 }).resultOrNull });
    // @ts-expect-error -- either on or afterFailure
    f.run(plain, { after: first, on: 'failed', afterFailure: 'wait' });
    // @ts-expect-error -- no such outcome
    f.run(plain, { after: first, on: 'done' });
    // @ts-expect-error -- results exist only for runs of the flow
    f.run(count, { input: stored.result.total });
  });
  // @ts-expect-error -- a name is no run
  await engine.createJobRun(plain, { after: 'extract' });
};

const hourly = every('1h');
const extracting = jobDef('extract', extract, { params: { day: 'monday' }, schedules: hourly });

export const soundDefs = (): void => {
  const loading = jobDef('load', load, { params: { name: extracting.result.name, rows: extracting.result.rows } });
  jobDef('first row', count, { after: extracting, afterFailure: 'wait', params: extracting.result.rows[0]! });
  jobDef('zone', load, { params: { name: 'x', rows: [1], zone: extracting.result.at.zone }, priority: 3 });
  jobDef('noted', note, { on: 'ended', params: { text: jobDef('plain', plain).resultOrNull } });
  jobDef('counted', count, { after: [extracting, 'other'], params: loading.result });
  jobSequence([extracting, loading], { schedules: hourly });
};

export const wrongDefs = (): void => {
  // @ts-expect-error -- a list of rows is no name
  jobDef('load', load, { params: { name: extracting.result.rows, rows: [] } });
  // @ts-expect-error -- the result has no such member
  jobDef('count', count, { params: extracting.result.total });
  // @ts-expect-error -- params are required
  jobDef('count', count, { after: extracting });
  // @ts-expect-error -- the run may start without a result: it needs resultOrNull
  jobDef('note', note, { on: 'ended', params: { text: extracting.result.name } });
  // @ts-expect-error -- null is no number
  jobDef('count', count, { afterFailure: 'run', params: jobDef('one', count, { params: 1 }).resultOrNull });
  // @ts-expect-error -- a definition that follows others has no schedules
  jobDef('count', count, { schedules: hourly, params: extracting.result.rows[0]! });
};
