// Types of simple runs flow from a schema, and from what the handler returns; nothing here is ever called.
import { z } from 'zod';
import {
  cron, jobDef, jobType, typed, type Engine, type HandedOff, type JobDef, type JobType, type RunHandle,
} from '../../src/index.ts';
import { exactly } from './same.ts';

const mail = jobType('mail', {
  input: z.object({
    to: z.string(),
    copies: z.number().default(1),
    at: z.string().transform((text) => new Date(text)).optional(),
  }),
  run: ({ input, signal, log, progress, run, idempotencyKey, fence }) => {
    exactly<{ to: string; copies: number; at?: Date | undefined }>()(input);
    exactly<AbortSignal>()(signal);
    exactly<string>()(idempotencyKey);
    exactly<number>()(fence);
    exactly<Date>()(run.dueTime);
    log.info(`to ${input.to}`);
    progress.startingProcess();
    return { sent: input.copies };
  },
});

const plain = jobType('plain', { run: () => 'done' });
const late = jobType('late', { run: async ({ input }) => Promise.resolve([input]) });
const loose = jobType('loose', { input: typed<number | undefined>(), run: ({ input }) => input ?? null });
const handsOff = jobType('hands off', {
  run: ({ handOff }): HandedOff | number => (fair() ? handOff({ within: '5m' }) : 7),
});

const handsAllOff = jobType('hands all off', { run: ({ handOff }) => handOff() });

declare const fair: () => boolean;

type MailInput = { to: string; copies?: number | undefined; at?: string | undefined };

export async function results(engine: Engine): Promise<void> {
  const run = await engine.createJobRun(mail, { input: { to: 'ann' } });
  exactly<RunHandle<{ sent: number }>>()(run);
  exactly<{ sent: number }>()(await run.result());
  exactly<string>()(await (await engine.createJobRun(plain)).result());
  exactly<unknown[]>()(await (await engine.createJobRun(late, { input: 'anything' })).result());
  exactly<number | null>()(await (await engine.createJobRun(loose)).result());
  const many = await engine.createJobRuns(mail, [{ input: { to: 'ann' } }, { input: { to: 'bob', copies: 2 } }]);
  exactly<{ sent: number }>()(await many[0]!.result());
  exactly<unknown>()(await engine.run(7).result());
  exactly<string>()(await engine.run<string>(7).result());
}

export async function payloads(engine: Engine): Promise<void> {
  // @ts-expect-error -- it needs an input
  await engine.createJobRun(mail);
  // @ts-expect-error -- it needs an input
  await engine.createJobRun(mail, { priority: 5 });
  // @ts-expect-error -- a field is missing
  await engine.createJobRun(mail, { input: { copies: 1 } });
  // @ts-expect-error -- a field has a wrong type
  await engine.createJobRun(mail, { input: { to: 7 } });
  // @ts-expect-error -- a field is misspelt
  await engine.createJobRun(mail, { input: { to: 'ann', copys: 2 } });
  // @ts-expect-error -- an option is misspelt
  await engine.createJobRun(mail, { input: { to: 'ann' }, prioritee: 1 });
  // @ts-expect-error -- no duration
  await engine.createJobRun(mail, { input: { to: 'ann' }, delay: 'soon' });
  // @ts-expect-error -- a wrong one among several
  await engine.createJobRuns(mail, [{ input: { to: 'ann' } }, { input: { to: 7 } }]);
  // @ts-expect-error -- inside a transaction the same holds
  await engine.in({}).createJobRun(mail, { input: { to: 7 } });
  await engine.in({}).createJobRun(mail, { input: { to: 'ann' }, delay: '90s', unique: 'a', tags: { a: 'b' } });
}

export async function definitions(engine: Engine): Promise<void> {
  const nightly = jobDef('nightly', mail, { params: { to: 'ann' }, schedules: cron('0 2 * * *'), overlap: 'skip' });
  exactly<JobDef<MailInput, { sent: number }>>()(nightly);
  exactly<{ sent: number }>()(await (await engine.createJobRun(nightly)).result());
  await engine.createJobRun(nightly, { input: { to: 'bob', copies: 2 } });
  // @ts-expect-error -- the input of a definition is that of its type
  await engine.createJobRun(nightly, { input: { to: 7 } });
  // @ts-expect-error -- its parameters are too
  jobDef('nightly', mail, { params: { to: 7 } });
  // @ts-expect-error -- there is no such policy
  jobDef('nightly', mail, { overlap: 'sometimes' });
  // @ts-expect-error -- a schedule is made by cron, every, repeat or at
  jobDef('nightly', mail, { schedules: '0 2 * * *' });
}

exactly<JobType<MailInput, { sent: number }>>()(mail);
exactly<JobType<unknown, string>>()(plain);
exactly<JobType<unknown, number>>()(handsOff);
exactly<JobType<unknown, unknown>>()(handsAllOff);

// @ts-expect-error -- a type has either run, or taskDetails and taskResults
jobType('empty', {});
jobType('limited', {
  input: typed<{ tenant: string }>(),
  // @ts-expect-error -- a limit's key is made from the input
  limit: { key: ({ nobody }) => nobody, concurrency: 1 },
  run: () => {},
});
// @ts-expect-error -- retries are counted, not listed
jobType('retried', { retry: ['1s', '2s'], run: () => {} });
