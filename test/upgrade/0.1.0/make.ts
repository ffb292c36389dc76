// Fills a database as version 0.1.0 writes it, then dies in the middle of its work. README.md says how to run it there.
import { writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { connect } from 'node:net';
import os from 'node:os';
import { cron, Engine, every, Fail, jobDef, jobType, RetryAfter, typed } from 'stint';
import { startBedrock } from 'stint/server';

const [store, writtenPath] = process.argv.slice(2);
if (store === undefined || writtenPath === undefined) throw new Error('usage: node make.ts STORE WRITTEN.json');

// The fixtures name no machine.
Error.stackTraceLimit = 0;
os.hostname = () => 'host';
syncBuiltinESMExports();

const never = new Promise<never>(() => {});
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

let tokenOfApproval = '';

const greet = jobType('greet', {
  input: typed<{ name: string }>(),
  run: async ({ input, log, progress }) => {
    log.info(`hello, ${input.name} ☃ "quoted"`);
    log.warn('a second line');
    await progress.runStage(['one', 'two'], (item) => `item ${item}`, () => {}, (good) => `${good} items`);
    return { hello: input.name };
  },
});
const broken = jobType('broken', {
  retry: { attempts: 2, base: '1ms' },
  run: () => {
    throw Object.assign(new Error('the disk is full'), { data: { free: 0 } });
  },
});
const refused = jobType('refused', { run: () => Promise.reject(new Fail('nobody can do this')) });
const later = jobType('later', { run: () => Promise.reject(new RetryAfter('30s', 'not yet')) });
const forever = jobType('forever', {
  timeout: '1h',
  run: async ({ log, progress }) => {
    log.info('started');
    progress.startingStage('a long stage', { total: 3 });
    progress.startingItem('the first item');
    await never;
  },
});
const limited = jobType('limited', {
  input: typed<{ customer: string }>(),
  concurrency: 3,
  limit: { key: ({ customer }) => customer, concurrency: 1 },
  run: () => never,
});
const approve = jobType('approve', {
  run: ({ handOff }) => {
    const handedOff = handOff({ within: '30000d' });
    tokenOfApproval = handedOff.token;
    return handedOff;
  },
});
const crawl = jobType('crawl', {
  input: typed<{ pages: number; stuckFrom?: number }>(),
  taskConcurrency: 4,
  retry: { attempts: 1 },
  jobDetails: ({ input }) => ({ agent: `crawler of ${input.pages} pages` }),
  taskDetails: ({ input }) =>
    Array.from({ length: input.pages }, (_, index) => ({ page: index + 1, stuckFrom: input.stuckFrom ?? 1_000 })),
  taskKey: ({ page }) => `page ${page}`,
  taskResults: async ({ task }) => {
    if (task.page === 3) throw new Error('page 3 is missing');
    if (task.page >= task.stuckFrom) await never;
    return { links: task.page };
  },
  jobResults: async ({ tasks, counts }) => {
    let links = 0;
    for await (const { result } of tasks) links += result?.links ?? 0;
    return { links, failed: counts.failed };
  },
});
/** More tasks than are planned at once, so that some are staged when the process dies. */
const planning = jobType('planning', {
  async *taskDetails() {
    for (let n = 1; n <= 1_500; n += 1) yield n;
    await never;
  },
  taskResults: ({ task }) => task,
});

const types = [greet, broken, refused, later, forever, limited, approve, crawl, planning];

const digest = jobDef('digest', greet, {
  params: { name: 'the team' }, tags: { from: 'a schedule' }, schedules: cron('30 6 * * *', { zone: 'Europe/Berlin' }),
});
const pulse = jobDef('pulse', greet, { params: { name: 'pulse' }, schedules: every('1s'), overlap: 'allow' });
const byHand = jobDef('by hand', greet, { params: { name: 'somebody' }, timeout: '7s', priority: 3 });
const disabled = jobDef('disabled', greet, { params: { name: 'nobody' }, schedules: every('1h'), enabled: false });
const far = new Date('2100-01-01T00:00:00Z');

async function untilState(engine: Engine, state: string, ...ids: readonly number[]): Promise<void> {
  for (const id of ids) while ((await engine.get(id)).state !== state) await sleep(20);
}

/** Jobs with every fate. */
async function endedJobs(engine: Engine): Promise<void> {
  await (await engine.createJobRun(greet, { input: { name: 'Ada' }, tags: { case: 'succeeded' } })).result();
  const open = await engine.createJobRun(greet, { input: { name: 'x' }, dueTime: far, tags: { case: 'cancelled' } });
  await open.cancel({ by: 'ada', why: 'no longer needed' });
  const stopped = await engine.createJobRun(forever, { tags: { case: 'stopped' } });
  await untilState(engine, 'running', stopped.id);
  await stopped.stop({ by: 'ada', why: 'too long' });
  for (const [type, name] of [[broken, 'failed'], [refused, 'refused']] as const) {
    await (await engine.createJobRun(type, { tags: { case: name } })).result().catch(() => {});
  }
  const again = await engine.createJobRun(broken, { tags: { case: 'failed twice' } });
  await again.result().catch(() => {});
  await again.retry({ by: 'ada' });
  await again.result().catch(() => {});
  await (await engine.createJobRun(crawl, { input: { pages: 5 }, tags: { case: 'tasks ended' } })).result();
  const unique = { key: 'for a long time', for: '30000d' } as const;
  await (await engine.createJobRun(greet, { input: { name: 'only' }, unique, tags: { case: 'key kept' } })).result();
  await (await engine.createJobRun(byHand, { tags: { case: 'of a definition' } })).result();
}

/** Definitions: with ticks behind them, overridden, disabled, and made by an operator. */
async function definitions(engine: Engine): Promise<void> {
  while ((await engine.find({ def: 'pulse', standings: ['succeeded'] })).jobs.length < 2) await sleep(50);
  await engine.disable('pulse', { by: 'ada', why: 'it has shown enough' });
  await engine.override('by hand', { priority: 9 }, { by: 'ada' });
  await engine.define('made by hand', 'greet', { params: { name: 'ops' }, schedules: every('365d') }, { by: 'ada' });
}

/** Jobs that wait, each for another reason. */
async function waitingJobs(engine: Engine): Promise<void> {
  await engine.createJobRun(greet, { input: { name: 'Grace' }, priority: 5, tags: { case: 'pending' } });
  await engine.createJobRun(greet, { input: { name: 'late' }, startBy: '10s', tags: { case: 'too late' } });
  const unique = { key: 'while open' };
  const delayed = await engine.createJobRun(greet, { input: { name: 'far' }, dueTime: far, unique, tags: { case: 'delayed' } });
  for (let n = 1; n <= 40; n += 1) await engine.editJobRun(delayed.id, { priority: n }, { by: 'ada', why: `edit ${n}` });
  const paused = await engine.createJobRun(greet, { input: { name: 'Edsger' }, tags: { case: 'paused' } });
  await engine.pauseJobRun(paused.id, { by: 'ada' });
}

/** Jobs that are under way when the process dies. */
async function runningJobs(engine: Engine): Promise<void> {
  const retried = await engine.createJobRun(later, { tags: { case: 'waits for a retry' } });
  while ((await engine.get(retried.id)).error === null) await sleep(20);
  const running = await engine.createJobRun(forever, { tags: { case: 'running' } });
  const asked = await engine.createJobRun(forever, { tags: { case: 'cancel asked' } });
  const approval = await engine.createJobRun(approve, { tags: { case: 'handed off' } });
  const customers = ['a', 'a', 'b', 'b', 'c', 'd'].map((customer) => ({ input: { customer }, tags: { case: 'limited' } }));
  await engine.createJobRuns(limited, customers);
  const crawled = await engine.createJobRun(crawl, { input: { pages: 8, stuckFrom: 5 }, tags: { case: 'tasks open' } });
  const planned = await engine.createJobRun(planning, { tags: { case: 'planning' } });
  await untilState(engine, 'running', running.id, asked.id, approval.id, planned.id);
  await engine.cancelJobRun(asked.id, { by: 'ada', why: 'not needed' });
  while ((await engine.find({ parent: crawled.id, standings: ['running'] })).jobs.length < 4) await sleep(20);
  while ((await engine.find({ types: ['limited'], standings: ['running'] })).jobs.length < 3) await sleep(20);
  await sleep(1_500); // notes and staged tasks are written a little later
}

/** Jobs of Bedrock clients. */
async function bedrockJobs(engine: Engine): Promise<void> {
  const { port, host } = await startBedrock({ engine, port: 0 });
  const socket = connect(port, host).setEncoding('utf8');
  const answers = socket.iterator({ destroyOnReturn: false });
  const request = async (...lines: readonly string[]): Promise<{ jobID: number }> => {
    socket.write(`${lines.join('\n')}\n\n`);
    const { value } = (await answers.next()) as { value: string };
    if (!value.startsWith('200')) throw new Error(`${lines[0]}: ${value}`);
    return JSON.parse(value.split('\r\n\r\n')[1] || '{}') as { jobID: number };
  };
  const claimed = async (name: string, ...more: readonly string[]): Promise<string> => {
    await request('CreateJob', `name: ${name}`, 'data: {"n":1}', ...more);
    return `jobID: ${(await request('GetJob', `name: ${name}`)).jobID}`;
  };
  await request('CreateJob', 'name: b/queued', 'data: {"n":1}', 'jobPriority: 750');
  await request('CreateJob', 'name: b/later', 'firstRun: 2100-01-01 00:00:00');
  await request('CreateJob', 'name: b/mock', 'mockRequest: true');
  await request('CreateJob', 'name: b/unique', 'unique: true', 'data: {"n":1}');
  await claimed('b/running');
  await claimed('b/retry', 'retryAfter: +1 HOUR');
  const repeated = await claimed('b/repeat', 'repeat: SCHEDULED, +1 DAY');
  await request('FinishJob', repeated, 'data: {"n":2}');
  await request('FailJob', await claimed('b/failed'), 'data: {"why":"it broke"}');
  await request('FinishJob', await claimed('b/finished'));
  const parent = await claimed('b/parent');
  const child = await request('CreateJob', 'name: b/child', `parentJobID: ${parent.slice('jobID: '.length)}`);
  await request('CreateJob', 'name: b/child', `parentJobID: ${parent.slice('jobID: '.length)}`, 'data: {"second":true}');
  await request('FinishJob', parent);
  const first = await request('GetJob', 'name: b/child');
  if (first.jobID !== child.jobID) throw new Error('the older child is handed out first');
  await request('FinishJob', `jobID: ${first.jobID}`, 'data: {"done":true}');
  socket.end();
}

/** All that the engine itself can read, to be compared with what a later version reads. */
async function written(engine: Engine): Promise<unknown> {
  const { jobs } = await engine.find(
    { kinds: ['run', 'task', 'bedrock', 'mock', 'def', 'audit'] }, { order: 'oldest', limit: 1_000 },
  );
  const each = async ({ id }: { readonly id: number }): Promise<unknown> => ({
    history: await engine.history(id),
    log: await engine.log(id).catch(() => []),
    progress: await engine.snapshot(id).then(({ progress }) => progress, () => null),
  });
  const details = [];
  for (const job of jobs) details.push({ job, ...(await each(job) as object) });
  return { at: engine.now(), token: tokenOfApproval, jobs: details };
}

const quiet = { lease: '15s', retention: null } as const;
const first = new Engine({ ...quiet, store, instance: 'first', types, defs: [digest, pulse, byHand, disabled] });
await first.resume();
await endedJobs(first);
await definitions(first);
await first.close();

const second = new Engine({ ...quiet, store, instance: 'second', types });
await second.resume();
await runningJobs(second);
await second.suspend();
await bedrockJobs(second);
await waitingJobs(second);
writeFileSync(writtenPath, JSON.stringify(await written(second)));
process.exit(0); // without a close: what runs stays claimed
