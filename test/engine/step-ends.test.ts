// How attempts with steps and sleeps end: after their steps, and asleep only if nothing else has decided them.
import { expect, test } from 'vitest';
import { jobType, runState, Sleeping, typed } from '../../src/index.ts';
import { Door, kindsOf, refusal, start, untilTold } from './api/kit.ts';

const ignore = (): void => {};

test('a failing attempt aborts its other steps and waits for them, so that no step is executed twice at once', async () => {
  let running = 0;
  let most = 0;
  const door = new Door();
  const reasons: unknown[] = [];
  const type = jobType('pair', {
    retry: { attempts: 2, base: '1s' },
    run: ({ step, run }) => Promise.all([
      step('slow', async ({ signal }) => {
        running += 1;
        most = Math.max(most, running);
        if (run.attempt === 1) await untilTold(signal).catch((reason: unknown) => reasons.push(reason));
        if (run.attempt === 1) await door.pass();
        running -= 1;
        return 'slow';
      }),
      step('quick', () => {
        if (run.attempt === 1) throw new Error('no');
        return 'quick';
      }),
    ]),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('10s');
  expect(reasons).toHaveLength(1);
  expect(runState(await run.get())).toBe('RUNNING');
  door.open();
  await t.advance('10s');
  expect(await run.get()).toMatchObject({ fate: 'succeeded', result: '["slow","quick"]' });
  expect(most).toBe(1);
  expect((await t.engine.steps(run.id)).map(({ name }) => name)).toEqual(['slow', 'quick']);
});

test('a handler that does not await a step ends after it, and a step that begins later is refused', async () => {
  const door = new Door();
  const late: Promise<unknown>[] = [];
  const type = jobType('careless', {
    run: ({ step }) => {
      step('begun', () => door.pass()).then(() => late.push(refusal(step('late', ignore)))).catch(ignore);
      return 'returned';
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(runState(await run.get())).toBe('RUNNING');
  door.open();
  await t.advance('1s');
  expect(await run.get()).toMatchObject({ fate: 'succeeded', result: '"returned"' });
  expect((await t.engine.steps(run.id)).map(({ name }) => name)).toEqual(['begun']);
  expect(await late[0]).toMatchObject({ message: expect.stringContaining('await each step') as string });
});

test('the failure of a step counts more than a sleep beside it', async () => {
  const door = new Door();
  const type = jobType('beside', {
    retry: { attempts: 1 },
    run: async ({ step, sleep }) => {
      try {
        await Promise.all([step('pay', () => Promise.reject(new Error('no money'))), sleep('a day', '1d')]);
      } catch (error) {
        await door.pass();
        throw error;
      }
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  door.open();
  await t.advance('1s');
  expect(await run.get()).toMatchObject({ fate: 'failed', error: { message: 'no money' } });
});

test('a sleep that loses against a step does not end the attempt of a handler that returns', async () => {
  const type = jobType('race', {
    run: ({ step, sleep }) => Promise.race([step('answer', () => 'yes'), sleep('too late', '1h')]),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(await run.get()).toMatchObject({ fate: 'succeeded', result: '"yes"' });
});

test('a step that a sleeping attempt refuses is executed after the sleep', async () => {
  const calls: string[] = [];
  const door = new Door();
  const type = jobType('race', {
    run: async ({ step, sleep }) => {
      await Promise.race([step('answer', () => calls.push('answer')), sleep('too late', '1h')]);
      await door.pass();
      await step('next', () => calls.push('next')).catch(ignore);
      return 'done';
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  door.open();
  await t.advance('2h');
  expect(await run.get()).toMatchObject({ fate: 'succeeded' });
  expect(calls).toEqual(['answer', 'next']);
});

test('a handler that awaits a sleep and a step however they end sleeps, and so does one that catches the sleep', async () => {
  const calls: string[] = [];
  const all = jobType('all', {
    run: ({ step, sleep }) => Promise.allSettled([step('first', () => calls.push('first')), sleep('night', '1h')]),
  });
  const catching = jobType('catching', {
    run: async ({ step, sleep }) => {
      try {
        await Promise.all([step('ask', () => calls.push('ask')), sleep('night', '1h')]);
        await step('pay', () => calls.push('pay'));
      } catch {
        return 'unpaid';
      }
      return 'paid';
    },
  });
  const t = await start({ types: [all, catching] });
  const runs = [await t.createJobRun(all), await t.createJobRun(catching)];
  await t.advance('59m');
  for (const run of runs) expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'sleeping' }]);
  await t.advance('2m');
  expect(await runs[0]!.get()).toMatchObject({ fate: 'succeeded' });
  expect(await runs[1]!.get()).toMatchObject({ fate: 'succeeded', result: '"paid"' });
  expect(calls).toEqual(['first', 'ask', 'pay']);
});

test('a failed step counts more than a sleep beside it, also if the handler throws another error', async () => {
  const type = jobType('wrapping', {
    retry: { attempts: 1 },
    run: async ({ step, sleep }) => {
      try {
        await Promise.all([step('pay', () => Promise.reject(new Error('no money'))), sleep('night', '1h')]);
      } catch (error) {
        throw new Error('the order failed', { cause: error });
      }
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(await run.get()).toMatchObject({ fate: 'failed', error: { message: expect.stringContaining('the order failed') as string } });
});

test('a planning that catches the error of sleep plans nothing before the sleep is over', async () => {
  const calls: string[] = [];
  const type = jobType('planner', {
    jobDetails: async ({ sleep }) => {
      await sleep('until the data is there', '1h').catch((error: unknown) => expect(error).toBeInstanceOf(Sleeping));
    },
    taskDetails: () => [1],
    taskResults: ({ task }) => calls.push(`task ${task}`),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('10m');
  expect(calls).toEqual([]);
  expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'sleeping' }]);
  await t.advance('1h');
  expect(kindsOf(await run.events()).filter((kind) => kind === 'planned' || kind === 'slept')).toHaveLength(2);
  expect(calls).toEqual(['task 1']);
});

test('a producer does not change the input of a waiting run that has finished steps', async () => {
  const type = jobType('debounced', {
    input: typed<string>(),
    run: async ({ input, step, sleep }) => {
      const first = await step('first', () => input);
      await sleep('a while', '1h');
      return [first, input];
    },
  });
  const t = await start({ types: [type] });
  const unique = { key: 'one', onTaken: 'update' } as const;
  const run = await t.createJobRun(type, { input: 'old', unique });
  await t.advance('1s');
  expect(await t.createJobRun(type, { input: 'new', unique })).toMatchObject({ id: run.id, outcome: 'existing' });
  await t.advance('2h');
  expect(await run.result()).toEqual(['old', 'old']);
});

test('planning and gathering have steps of their own, also with the same names', async () => {
  const type = jobType('phases', {
    jobDetails: ({ step }) => step('load', () => 'planned'),
    taskDetails: ({ details }) => [details],
    taskResults: ({ task, step }) => step('load', () => `task of ${task}`),
    jobResults: async ({ details, step }) => [details, await step('load', ({ idempotencyKey }) => idempotencyKey)],
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('10s');
  expect(JSON.parse((await run.get()).result!)).toEqual(['planned', `${run.id}.1.jobResults/load`]);
  expect((await t.engine.steps(run.id)).map(({ name }) => name)).toEqual(['load', 'jobResults/load']);
});
