// Jobs that another system finishes: the handler hands them off and is done, and the token finishes them later.
import { expect, test } from 'vitest';
import { jobType, runState, type RunFailed } from '../../../src/index.ts';
import { kindsOf, refused, start, thrown } from './kit.ts';

/** Tells its tokens to the test. */
function outside(options: { within?: '10m'; crashes?: number } = {}) {
  const tokens: string[] = [];
  const type = jobType('outside', {
    retry: { attempts: 2, base: '1s', crashes: options.crashes ?? 3 },
    run: (context) => {
      const handedOff = context.handOff(options.within === undefined ? {} : { within: options.within });
      tokens.push(handedOff.token);
      return handedOff;
    },
  });
  return { type, tokens };
}

test('a job that is handed off stays running without a slot', async () => {
  const { type } = outside();
  const other = jobType('other', { run: () => 'served' });
  const t = await start({ types: [type, other], slots: 1 });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(runState(await run.get())).toBe('RUNNING');
  const served = await t.createJobRun(other);
  await t.drain();
  expect(await served.result()).toBe('served');
});

test('a stop of a handed-off job says that no handler was running', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(await run.stop()).toMatchObject({ how: 'idle', job: { state: 'ended', fate: 'cancelled' } });
  expect(await refused(t.engine.complete(tokens[0]!))).toBe('lost.lease');
});

test('a stop of a run whose only running task is handed off says that no handler was running', async () => {
  const split = jobType('split', { taskDetails: () => [1], taskResults: (context) => context.handOff() });
  const t = await start({ types: [split] });
  const run = await t.createJobRun(split);
  await t.drain();
  expect(await run.stop()).toMatchObject({ how: 'idle', job: { state: 'ended', fate: 'cancelled' } });
});

test('the token of a handed-off job completes it with a result, once', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.engine.complete(tokens[0]!, { paid: true });
  expect(await run.result()).toEqual({ paid: true });
  expect(await refused(t.engine.complete(tokens[0]!))).toBe('lost.lease');
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'handedOff', 'succeeded']);
});

test('the token of a handed-off job fails it, and the attempt counts', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.engine.fail(tokens[0]!, new Error('card declined'));
  await t.advance('5s');
  expect(tokens).toHaveLength(2);
  expect(await refused(t.engine.complete(tokens[0]!))).toBe('lost.lease');
  await t.engine.fail(tokens[1]!, new Error('card declined again'));
  expect(((await thrown(run.result())) as RunFailed).error?.message).toBe('card declined again');
});

test('a completion that comes before the handler has returned is not lost', async () => {
  const early = jobType('early', {
    run: async (context) => {
      const handedOff = context.handOff();
      await t.engine.complete(handedOff.token, 'before you knew it');
      return handedOff;
    },
  });
  const t = await start({ types: [early] });
  const run = await t.createJobRun(early);
  await t.drain();
  expect(await run.result()).toBe('before you knew it');
});

test('a handed-off job whose time is over is retried until its crash budget is used up', async () => {
  const { type, tokens } = outside({ within: '10m', crashes: 2 });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('9m');
  expect(tokens).toHaveLength(1);
  await t.advance('2m');
  expect(tokens).toHaveLength(2);
  await t.advance('11m');
  expect((await run.get()).error).toMatchObject({ code: 'crashed' });
  expect(kindsOf(await run.events())).toEqual([
    'created', 'claimed', 'handedOff', 'lapsed', 'claimed', 'handedOff', 'failed',
  ]);
});

test('a handed-off job without a time limit waits without end, even across a restart', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  t.crash();
  await t.advance('1d');
  await t.restart();
  await t.advance('1h');
  expect(runState(await run.get())).toBe('RUNNING');
  await t.engine.complete(tokens[0]!);
  expect(runState(await run.get())).toBe('DONE');
});

test('a task can be handed off too, and its run waits for it', async () => {
  const tokens: string[] = [];
  const type = jobType('tasks', {
    taskDetails: () => ['here', 'there'],
    taskResults: (context) => {
      if (context.task === 'here') return 'done here';
      const handedOff = context.handOff();
      tokens.push(handedOff.token);
      return handedOff;
    },
    jobResults: async ({ tasks }) => (await Array.fromAsync(tasks)).map(({ result }) => result),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(runState(await run.get())).toBe('RUNNING');
  await t.engine.complete(tokens[0]!, 'done there');
  await t.drain();
  expect(await run.result()).toEqual(['done here', 'done there']);
});

test('a handed-off job that was cancelled ends when its token is used', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(runState(await run.cancel())).toBe('CANCELLING');
  await t.engine.complete(tokens[0]!, 'done all the same');
  expect((await run.events()).at(-1)).toMatchObject({ kind: 'cancelled', late: 'succeeded' });
});

test('a handed-off job that was cancelled with a grace ends without its token when the grace is over', async () => {
  const { type } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await run.cancel({ grace: '1m' });
  await t.advance('2m');
  expect(runState(await run.get())).toBe('CANCELLED');
});

test('a text that is no token is refused', async () => {
  const t = await start();
  expect(await refused(t.engine.complete('not a token'))).toBe('malformed.id');
  expect(await refused(t.engine.complete(`77.1.${'0'.repeat(32)}`))).toBe('lost.lease');
});

test('a token cannot be guessed: job and fence alone, or another secret, are refused', async () => {
  const { type, tokens } = outside();
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const job = await run.get();
  expect(await refused(t.engine.complete(`${job.id}.${job.fence}`))).toBe('malformed.id');
  expect(await refused(t.engine.complete(`${job.id}.${job.fence}.${'0'.repeat(32)}`))).toBe('lost.lease');
  expect(JSON.stringify([job, await run.events()])).not.toContain(tokens[0]!.split('.')[2]);
  await t.engine.complete(tokens[0]!);
  expect(runState(await run.get())).toBe('DONE');
});

test('an operator finishes it without its token, and only what is handed off', async () => {
  const { type } = outside();
  const other = jobType('other', { run: () => 'served' });
  const t = await start({ types: [type, other] });
  const [first, second, served] = [await t.createJobRun(type), await t.createJobRun(type), await t.createJobRun(other)];
  await t.drain();
  await t.engine.completeJobRun(first.id, { paid: true }, { by: 'ann', why: 'the bank called' });
  expect(await first.result()).toEqual({ paid: true });
  expect((await first.events()).at(-1)).toMatchObject({ kind: 'succeeded', by: 'ann', why: 'the bank called' });
  await t.engine.failJobRun(second.id, new Error('the bank said no'), { by: 'ann' });
  expect((await second.get()).error?.message).toBe('the bank said no');
  expect(await refused(t.engine.completeJobRun(served.id, null, { by: 'ann' }))).toBe('wrong.state');
  expect(await refused(t.engine.failJobRun(424_242, new Error('x')))).toBe('unknown.job');
});
