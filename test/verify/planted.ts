// Defects for `verify` to find: each is planted by SQL into a valid store, and violates the invariant it names.
import { jobDef, jobType } from '../../src/index.ts';
import { answerWait } from '../../src/jobs/answer.ts';
import { declare } from '../../src/jobs/define.ts';
import { declareLimits, overrideLimit, pauseLimit } from '../../src/jobs/limits.ts';
import { endPause, pause } from '../../src/jobs/pauses.ts';
import { tickDue } from '../../src/jobs/tick.ts';
import type { AnyJobDef } from '../../src/engine/declare/job-def.ts';
import type { Job } from '../../src/model/job.ts';
import type { LimitValues } from '../../src/model/limit.ts';
import type { NewStep } from '../../src/model/step.ts';
import { every } from '../../src/time/schedule.ts';
import type { Invariant } from '../../src/verify.ts';
import { minute, tester, type World } from '../jobs/world.ts';

export type Sql = (statement: string) => Promise<void>;

export interface Defect {
  readonly invariant: Invariant;
  readonly title: string;
  /** Creates valid jobs; the returned function plants the defect. */
  readonly prepare: (world: World) => Promise<(sql: Sql) => Promise<void>>;
}

const defect = (invariant: Invariant, title: string, prepare: Defect['prepare']): Defect =>
  ({ invariant, title, prepare });

const runs = jobType('tick', { run: () => null });
const everyMinute = jobDef('minutely', runs, { schedules: every('1m'), overlap: 'allow' });

async function declared(world: World, { name, spec }: AnyJobDef): Promise<Job> {
  await declare(world.jobs, { name, spec, enabled: true, build: null }, 'code');
  return (await world.jobs.find({ kinds: ['def'], def: name })).jobs[0]!;
}

/** A definition with three past ticks, and its newest run. */
async function ticking(world: World): Promise<{ def: Job; run: Job }> {
  const { name, spec } = everyMinute;
  await declare(world.jobs, { name, spec, enabled: true, build: null }, 'code');
  for (let ticks = 0; ticks < 3; ticks++) {
    await world.clock.advance(minute);
    await tickDue(world.jobs, tester);
  }
  const [run] = (await world.jobs.find({ kinds: ['run'], def: name })).jobs;
  const [def] = (await world.jobs.find({ kinds: ['def'] })).jobs;
  return { def: def!, run: run! };
}

/** Appends an event to the history, and raises the version of the row. */
const append = (table: 'job' | 'ended', { id, version }: Job, event: object, rest = ''): string => {
  const line = JSON.stringify([{ n: version + 1, by: 'sql', ...event }]);
  return `update ${table} set history = history || '\n${line}', version = ${version + 1}${rest} where id = ${id}`;
};

const rewrite = (table: 'job' | 'ended', column: string, { id }: Job, from: string, to: string): string =>
  `update ${table} set ${column} = replace(${column}, '${from}', '${to}') where id = ${id}`;

const question = (job: number, fence: number): NewStep => ({
  job, fence, name: 'ok', n: 1, kind: 'wait', startedAt: 1, endedAt: null, result: null,
  question: '{"ask":null,"schema":null,"role":"operator","notBy":[],"until":null,"tokenHash":null}',
});

/** Registers a live instance: only then is overdue work a violation. */
const registerInstance = (world: World): Promise<unknown> => {
  const about = { host: 'h', pid: 1, version: '1', types: [], slots: 1, busy: 0, draining: false };
  return world.store.beat({ id: 'alive', leaseMs: minute, about, holds: [] });
};

/** Declares a limit, and starts three jobs that use it. */
async function useLimit(world: World, values: LimitValues): Promise<void> {
  await declareLimits(world.store, [{ name: 'api', keyed: false, values }], 'code');
  await startUsers(world);
}

/** The values of a limit are checked when they have surely been in force. */
async function startUsers(world: World): Promise<void> {
  await world.clock.advance(minute);
  const uses = { limitUses: [{ name: 'api', key: null, cost: 1 }] };
  for (let jobs = 0; jobs < 3; jobs++) {
    const job = await world.create(uses);
    await world.clock.advance(1);
    await world.claimOne(job);
  }
}

export const defects: readonly Defect[] = [
  defect('S1', 'a job that ends twice', async (world) => {
    const job = await world.ended();
    return (sql) => sql(append('ended', job, { at: job.changed, kind: 'succeeded' }));
  }),
  defect('S2', 'a job that is claimed after its end', async (world) => {
    const job = await world.ended();
    return (sql) => sql(append('ended', job, { at: job.changed, kind: 'claimed', holder: 'late' }));
  }),
  defect('S3', 'a fence that is not the number of claims', async (world) => {
    const job = await world.ended();
    return (sql) => sql(rewrite('ended', 'body', job, '"fence":1', '"fence":2'));
  }),
  defect('S5', 'a job with two holders', async (world) => {
    const job = await world.running();
    const claimed = { at: job.changed, kind: 'claimed', holder: 'second', until: job.changed + minute };
    return (sql) => sql(append('job', job, claimed, ', fence = 2'));
  }),
  defect('S6', 'a job that was repaired before its lease lapsed', async (world) => {
    const job = await world.running();
    const lapsed = { at: job.changed + 1, kind: 'lapsed', holder: 'worker', phase: 'run', due: job.due };
    return (sql) => sql(append('job', job, lapsed));
  }),
  defect('S7', 'a job with more attempts than its limit', async (world) => {
    const policy = { attemptsMax: 7, baseMs: 0 };
    const first = await world.running({ type: 'weak', policy });
    await world.jobs.fail(first, first.fence, { code: 'unknown', message: 'no' }, tester);
    const job = await world.claimOne(first);
    return (sql) => sql(rewrite('job', 'body', job, '"attemptsMax":7', '"attemptsMax":1'));
  }),
  defect('S9', 'a job that was never created', async (world) => {
    const job = await world.create();
    return (sql) => sql(rewrite('job', 'history', job, '"kind":"created"', '"kind":"freed"'));
  }),
  defect('S10', 'a unique key that is free within its window', async (world) => {
    const job = await world.ended({ unique: { key: 'once an hour', forMs: 60 * minute } });
    return (sql) => sql(`delete from unique_key where job = ${job.id}`);
  }),
  defect('S11', 'a unique key that belongs to another job', async (world) => {
    const job = await world.create({ unique: { key: 'mine' } });
    return (sql) => sql(`update unique_key set job = 4711 where job = ${job.id}`);
  }),
  defect('S12', 'a run that succeeded while a task is open', async (world) => {
    const [run, task] = [await world.ended(), await world.create()];
    return (sql) => sql(`update job set parent = ${run.id} where id = ${task.id}`);
  }),
  defect('S13', 'a run that has lost a task', async (world) => {
    const { tasks } = await world.family(3);
    return (sql) => sql(`delete from job where id = ${tasks[1]!.id}`);
  }),
  defect('S13', 'a run with two tasks of the same key', async (world) => {
    const { tasks } = await world.family(3);
    return (sql) => sql(rewrite('job', 'body', tasks[1]!, 'task 1', 'task 0'));
  }),
  defect('S14', 'a transition that the machine does not have', async (world) => {
    const job = await world.create();
    return (sql) => sql(append('job', job, { at: job.changed, kind: 'settled', due: job.due }));
  }),
  defect('S15', 'a task whose run does not exist', async (world) => {
    const { tasks } = await world.family(1);
    return (sql) => sql(`update job set parent = 4711 where id = ${tasks[0]!.id}`);
  }),
  defect('S16', 'a task that was claimed after its run was cancelled', async (world) => {
    const { run, tasks } = await world.family(2);
    await world.claimOne(tasks[0]!);
    await world.clock.advance(1000);
    const { cancel } = await world.jobs.cancel(run.id, tester);
    return (sql) => sql(rewrite('job', 'body', run, `"at":${cancel!.at}`, `"at":${cancel!.at - minute}`));
  }),
  defect('S17', 'a success after a cancel', async (world) => {
    const job = await world.running();
    await world.jobs.cancel(job.id, tester);
    await world.jobs.succeed(job.id, job.fence, tester);
    return async (sql) => {
      await sql(rewrite('ended', 'history', job, '"kind":"cancelled"', '"kind":"succeeded"'));
      await sql(`update ended set fate = 'succeeded' where id = ${job.id}`);
    };
  }),
  defect('S18', 'a run for a tick that its definition did not record', async (world) => {
    const { run } = await ticking(world);
    const { nominal } = run.tick!;
    return (sql) => sql(rewrite('job', 'body', run, `"nominal":${nominal}`, `"nominal":${nominal + 1}`));
  }),
  defect('S48', 'a definition whose follower follows another one', async (world) => {
    await declared(world, everyMinute);
    const follower = await declared(world, jobDef('after', runs, { after: 'minutely' }));
    return (sql) => sql(rewrite('job', 'input', follower, '"after":["minutely"]', '"after":["other"]'));
  }),
  defect('S48', 'a run that its tick records for another follower', async (world) => {
    await declared(world, everyMinute);
    await declared(world, jobDef('after', runs, { after: 'minutely' }));
    await world.clock.advance(minute);
    await tickDue(world.jobs, tester);
    const [run] = (await world.jobs.find({ kinds: ['run'], def: 'after' })).jobs;
    return (sql) => sql(`update job set def = 'another' where id = ${run!.id}`);
  }),
  defect('S18', 'a tick with two runs', async (world) => {
    const { def, run } = await ticking(world);
    const [from, to] = [run.tick!.nominal, run.tick!.nominal - minute];
    return (sql) => sql(rewrite('job', 'history', def, `"nominal":${from},"run"`, `"nominal":${to},"run"`));
  }),
  defect('S19', 'a tick that has neither run nor skip', async (world) => {
    const { def, run } = await ticking(world);
    const { nominal } = run.tick!;
    return (sql) => sql(rewrite('job', 'history', def, `"nominal":${nominal},"run"`, `"nominal":${nominal + 1},"run"`));
  }),
  defect('S19', 'a tick that was left out', async (world) => {
    const { def, run } = await ticking(world);
    const outcome = `{"schedule":0,"nominal":${run.tick!.nominal},"run":${run.id},"lateMs":0}`;
    return (sql) => sql(rewrite('job', 'history', def, outcome, ''));
  }),
  defect('S20', 'a job that was started before it was due', async (world) => {
    const job = await world.running();
    return async (sql) => {
      await sql(rewrite('job', 'history', job, `"due":${job.due}`, `"due":${job.due + 5000}`));
      await sql(`update job set due = ${job.due + 5000} where id = ${job.id}`);
    };
  }),
  defect('S26', 'a row that differs from its history', async (world) => {
    const job = await world.create();
    return (sql) => sql(`update job set priority = 77 where id = ${job.id}`);
  }),
  defect('S27', 'a history with a gap', async (world) => {
    const job = await world.running();
    return (sql) => sql(rewrite('job', 'history', job, '"n":2', '"n":3'));
  }),
  defect('S28', 'a row that is newer than its history', async (world) => {
    const job = await world.create();
    return (sql) => sql(`update job set version = 9 where id = ${job.id}`);
  }),
  defect('S29', 'a feed that has lost an entry', async (world) => {
    await world.running();
    await world.jobs.cancel((await world.everyJob())[0]!.id, tester);
    return (sql) => sql(`delete from feed where seq = (select min(seq) + 1 from feed)`);
  }),
  defect('S35', 'an ended child that retention cannot find', async (world) => {
    const job = await world.ended();
    return (sql) => sql(`update ended set parent = 4711 where id = ${job.id}`);
  }),
  defect('S36', 'a row that cannot be read', async (world) => {
    const [, job] = [await world.create(), await world.create(), await world.create()];
    return (sql) => sql(`update job set body = '{' where id = ${job.id}`);
  }),
  defect('S40', 'a job that was claimed while its type was paused', async (world) => {
    const job = await world.running();
    await pause(world.store, { type: job.type, key: null }, null, tester);
    const confirmed = (time: number): string => `confirmed\\":${time}`;
    const [before, after] = [world.store.now(), world.store.now() - minute].map(confirmed) as [string, string];
    return (sql) => sql(`update job set history = replace(history, '${before}', '${after}') where kind = 'pause'`);
  }),
  defect('S40', 'a job that was claimed while a limit that it uses was paused', async (world) => {
    await useLimit(world, { rate: null, concurrency: 700 });
    await pauseLimit(world.store, 'api', null, tester);
    const confirmed = (time: number): string => `pauseConfirmed\\":${time}`;
    const [before, after] = [world.store.now(), world.store.now() - minute].map(confirmed) as [string, string];
    return (sql) => sql(`update job set history = replace(history, '${before}', '${after}') where kind = 'limit'`);
  }),
  defect('S49', 'a job that was claimed before the spread of a resume let it out', async (world) => {
    const [job] = [await world.create({ type: 'a' }), await world.create({ type: 'a' }), await world.create({ type: 'a' })];
    await pause(world.store, { type: 'a', key: null }, null, tester);
    await endPause(world.store, { type: 'a', key: null }, tester, 2 * minute);
    await world.clock.advance(minute / 2);
    await world.claimOne(job);
    const [before, after] = [job.due, job.due - minute].map((due) => `bounds\\":[[${due},`) as [string, string];
    return (sql) => sql(`update job set history = replace(history, '${before}', '${after}') where kind = 'pause'`);
  }),
  defect('S43', 'an answer that the history does not state', async (world) => {
    const { id, fence } = await world.running();
    await world.store.writeSteps([question(id, fence)]);
    return (sql) => sql(`update step set ended_at = 7, result = '{"value":1,"by":"eve","role":"admin"}' where job = ${id}`);
  }),
  defect('S43', 'a step that was stored under a claim that never was', async (world) => {
    const { id, fence } = await world.running();
    await world.store.writeSteps([{ ...question(id, fence), kind: 'step', endedAt: 7, result: '1', question: null }]);
    return (sql) => sql(`update step set fence = ${fence + 1} where job = ${id}`);
  }),
  defect('S43', 'two answers to one question', async (world) => {
    const { id, fence } = await world.running();
    await world.store.writeSteps([question(id, fence)]);
    const answerer = { by: 'ada', role: 'admin' } as const;
    const job = await answerWait(world.store, id, { name: 'ok', value: 1, answerer, check: async () => null }, tester);
    return (sql) => sql(append('job', job, { kind: 'answered', at: job.changed, name: 'ok' }));
  }),
  defect('S42', 'a job of a version that its worker does not know', async (world) => {
    const job = await world.running();
    return (sql) => sql(`update job set type_version = 2 where id = ${job.id}`);
  }),
  defect('S39', 'more starts in a period than a named limit allows', async (world) => {
    await useLimit(world, { rate: { count: 700, per: minute, burst: 700 }, concurrency: null });
    return (sql) => sql(`update job set input = replace(input, '700', '1') where kind = 'limit'`);
  }),
  defect('S39', 'more starts in a period than an override of a named limit allows', async (world) => {
    await declareLimits(world.store, [{ name: 'api', keyed: false, values: { rate: null, concurrency: null } }], 'code');
    await overrideLimit(world.store, 'api', { rate: { count: 700, per: minute, burst: 700 } }, tester);
    await startUsers(world);
    return (sql) => sql(`update job set history = replace(history, '700', '1'), input = replace(input, '700', '1') where kind = 'limit'`);
  }),
  defect('S39', 'more running jobs than an override of a named limit allows', async (world) => {
    await declareLimits(world.store, [{ name: 'api', keyed: false, values: { rate: null, concurrency: null } }], 'code');
    await overrideLimit(world.store, 'api', { concurrency: 700 }, tester);
    await startUsers(world);
    return (sql) => sql(`update job set history = replace(history, '700', '2'), input = replace(input, '700', '2') where kind = 'limit'`);
  }),
  defect('S39', 'more running jobs than a named limit allows', async (world) => {
    await useLimit(world, { rate: null, concurrency: 700 });
    return (sql) => sql(`update job set input = replace(input, '700', '2') where kind = 'limit'`);
  }),
  defect('L1', 'a lease that lapsed long ago', async (world) => {
    const job = await world.running();
    await registerInstance(world);
    return (sql) => sql(`update job set lease_until = ${job.created - 10 * minute} where id = ${job.id}`);
  }),
  defect('L3', 'a run that waits for children it does not have', async (world) => {
    const { run, tasks } = await world.family(1);
    await world.clock.advance(2 * minute);
    await registerInstance(world);
    return (sql) => sql(`update job set parent = ${run.id + 4711} where id = ${tasks[0]!.id}`);
  }),
  defect('L3', 'a job whose holder is not registered', async (world) => {
    const job = await world.running();
    await registerInstance(world);
    return (sql) => sql(`update job set lease_until = null where id = ${job.id}`);
  }),
  defect('L5', 'a definition that does not tick', async (world) => {
    const { def } = await ticking(world);
    await registerInstance(world);
    return (sql) => sql(`update job set due = due - ${10 * minute} where id = ${def.id}`);
  }),
];
