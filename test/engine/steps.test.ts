// Steps and sleeps of handlers: memory, not replay.
import { expect, test } from 'vitest';
import { Engine, jobType, LeaseLost, Refusal, runState, Sleeping, Snooze, type RunHandle } from '../../src/index.ts';
import { silent } from '../../src/logger.ts';
import { openStore } from '../../src/open/store.ts';
import { stepsMax } from '../../src/model/step.ts';
import { Cluster } from './api/cluster.ts';
import { day, Door, hour, kindsOf, refused, start } from './api/kit.ts';

/** The result of a run that must have ended: the promise of `result` would wait for ever otherwise. */
async function resultOf(run: RunHandle<unknown>): Promise<unknown> {
  expect((await run.get()).state).toBe('ended');
  return run.result();
}

test('a finished step answers later attempts with its stored result', async () => {
  const calls: string[] = [];
  const type = jobType('order', {
    retry: { attempts: 3, base: '1s' },
    run: async ({ step, run }) => {
      const plan = await step('plan', () => {
        calls.push('plan');
        return { parts: [1, 2], at: new Date(0) };
      });
      await step('work', () => {
        calls.push('work');
        if (run.attempt < 3) throw new Error('not yet');
      });
      return plan;
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect(await resultOf(run)).toEqual({ parts: [1, 2], at: '1970-01-01T00:00:00.000Z' });
  expect(calls).toEqual(['plan', 'work', 'work', 'work']);
  expect(kindsOf(await run.events()).filter((kind) => kind === 'retried')).toHaveLength(2);
});

test('the first call of a step returns what later attempts return', async () => {
  const seen: unknown[] = [];
  const type = jobType('dates', {
    retry: { attempts: 2, base: '1s' },
    run: async ({ step, run }) => {
      seen.push(await step('made', () => ({ at: new Date(0), gone: undefined })), await step('none', () => undefined));
      if (run.attempt === 1) throw new Error('once more');
    },
  });
  const t = await start({ types: [type] });
  await t.createJobRun(type);
  await t.advance('1m');
  expect(seen).toHaveLength(4);
  expect(seen.slice(0, 2)).toEqual(seen.slice(2));
});

test('a sleep inside a step is refused, since it would wait for that step', async () => {
  const type = jobType('nested', {
    retry: { attempts: 1 },
    run: ({ step, sleep }) => step('outer', () => sleep('inner', '1m')),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect((await run.get()).error?.message).toBe('cannot sleep ("inner") inside the step "outer": sleep between steps');
});

test('a step inside a step is refused, and not retried', async () => {
  let calls = 0;
  const type = jobType('nested', {
    retry: { attempts: 1 },
    run: ({ step }) => step('outer', { retry: { attempts: 3 } }, () => {
      calls += 1;
      return step('inner', () => 1);
    }),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1m');
  expect((await run.get()).error?.message).toBe('cannot call step ("inner") inside the step "outer": call it before or after that step');
  expect(calls).toBe(1);
});

test('a job that a step creates has steps and sleeps of its own', async () => {
  const child = jobType('child', { run: async ({ step, sleep }) => {
    await sleep('nap', '1s');
    return step('inner', () => 'done');
  } });
  const outer = jobType('outer', { run: ({ step }) => step('create', async () => (await t.engine.createJobRun(child)).id) });
  const t = await start({ types: [child, outer] });
  const run = await t.createJobRun(outer);
  await t.advance('1m');
  expect(await t.engine.get(await resultOf(run) as number)).toMatchObject({ fate: 'succeeded', result: '"done"' });
});

test('a name that begins like those of jobResults is refused', async () => {
  const type = jobType('reserved', { retry: { attempts: 1 }, run: ({ step }) => step('jobResults/load', () => 1) });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect((await run.get()).error).toMatchObject({ id: 'malformed.name', message: expect.stringContaining('needs another name') as string });
});

test('explain separates the sleep of a handler from a due time that an operator has set', async () => {
  const type = jobType('sleeper', { run: ({ sleep }) => sleep('nap', '1h') });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  const codes = async (): Promise<string[]> => (await run.explain()).map(({ code }) => code);
  const later = t.clock.now() + 2 * hour;
  await t.engine.editJobRun(run.id, { due: later });
  for (let priority = 0; priority < 60; priority += 1) await t.engine.editJobRun(run.id, { priority });
  expect(await run.explain()).toMatchObject([{ code: 'sleeping', detail: { until: later - hour } }, { code: 'not.due' }]);
  await t.engine.pauseJobRun(run.id);
  await t.engine.resumeJobRun(run.id);
  expect(await codes()).toEqual(['sleeping', 'not.due']);
  await t.advance('61m');
  expect(await codes()).toEqual(['not.due']);
});

test('a step that cannot be stored says so in the log, and is stored when the store answers', async () => {
  const warnings: string[] = [];
  let failures = 3;
  const store = openStore('memory:');
  const writeSteps = store.writeSteps.bind(store);
  store.writeSteps = (steps) => (failures-- > 0 ? Promise.reject(new Error('no route')) : writeSteps(steps));
  const type = jobType('patient', { run: ({ step }) => step('one', () => 1) });
  const logger = { ...silent, warn: (text: string) => void warnings.push(text) };
  await using engine = new Engine({ store, types: [type], logger });
  await engine.resume();
  const run = await engine.createJobRun(type);
  expect(await run.result()).toBe(1);
  expect(warnings).toEqual([`cannot read or write the steps of job ${run.id}; it is tried again`]);
});

test('a step whose end is refused for good fails with that refusal, and is not tried again', async () => {
  const type = jobType('refused', { retry: { attempts: 1 }, run: ({ step }) => step('one', () => 1) });
  const store = openStore('memory:');
  let tries = 0;
  store.writeSteps = () => {
    tries += 1;
    return Promise.reject(new Refusal('encoded.payload', 'the result cannot be encrypted'));
  };
  await using engine = new Engine({ store, types: [type], logger: silent });
  await engine.resume();
  const run = await engine.createJobRun(type);
  await expect(run.result()).rejects.toThrow('the result cannot be encrypted');
  expect(tries).toBe(1);
});

test('an error that postpones the job is not retried inside its step', async () => {
  let calls = 0;
  const type = jobType('postponed', {
    run: ({ step }) => step('call', { retry: { attempts: 5, base: '1s' } }, () => {
      calls += 1;
      if (calls === 1) throw new Snooze('1h');
      return calls;
    }),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('30m');
  expect(calls).toBe(1);
  await t.advance('31m');
  expect(await resultOf(run)).toBe(2);
});

test('a name can be used once per attempt', async () => {
  const type = jobType('twice', {
    retry: { attempts: 1 },
    run: async ({ step }) => {
      await step('a', () => 1);
      await step('a', () => 2);
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect((await run.get()).error).toMatchObject({ id: 'taken.step', message: expect.stringContaining('its own name') });
});

test('a sleep gives the slot back, does not count as an attempt, and answers at once when it is over', async () => {
  const seen: number[] = [];
  const sleeper = jobType('sleeper', {
    retry: { attempts: 1 },
    run: async ({ step, sleep, run }) => {
      seen.push(run.attempt);
      await step('first', () => 1);
      await sleep('cool off', '3d');
      return step('second', () => 2);
    },
  });
  const other = jobType('other', { run: () => 'served' });
  const t = await start({ types: [sleeper, other], slots: 1 });
  const run = await t.createJobRun(sleeper);
  await t.drain();
  expect(runState(await run.get())).toBe('PENDING');
  expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'sleeping', detail: { name: 'cool off' } }]);
  await t.engine.editJobRun(run.id, { priority: 1 });
  expect(await t.engine.explain(run.id)).toMatchObject([{ code: 'sleeping', detail: { name: 'cool off' } }]);
  const served = await t.createJobRun(other);
  await t.drain();
  expect(await resultOf(served)).toBe('served');
  await t.advance('3d');
  expect(await resultOf(run)).toBe(2);
  expect(seen).toEqual([1, 1]);
  const events = await run.events();
  expect(kindsOf(events)).toEqual(['created', 'claimed', 'slept', 'edited', 'claimed', 'succeeded']);
  expect(events[4]!.at - events[1]!.at).toBeGreaterThanOrEqual(3 * day);
});

test('a handler that catches the error of sleep sleeps nevertheless', async () => {
  const reached: string[] = [];
  const type = jobType('stubborn', {
    run: async ({ step, sleep }) => {
      try {
        await sleep('a while', '1h');
      } catch (error) {
        expect(error).toBeInstanceOf(Sleeping);
        await step('too early', () => void reached.push('too early')).catch(() => {});
        return 'early';
      }
      return 'late';
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.advance('1h');
  expect(await resultOf(run)).toBe('late');
  expect(reached).toEqual([]);
});

test('parallel steps are all stored before a sleep ends the attempt', async () => {
  const calls: string[] = [];
  const door = new Door();
  const type = jobType('parallel', {
    run: async ({ step, sleep }) => {
      const slow = async (): Promise<number> => {
        await step('slow', () => {
          calls.push('slow');
          return door.pass();
        });
        return step('after slow', () => calls.push('after slow'));
      };
      return Promise.all([step('quick', () => calls.push('quick')), slow(), sleep('a day', '1d'), sleep('two days', '2d')]);
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.advance('1s');
  expect(runState(await run.get())).toBe('RUNNING');
  door.open();
  await t.advance('3d');
  expect(await resultOf(run)).toEqual([1, 3, null, null]);
  expect(calls).toEqual(['quick', 'slow', 'after slow']);
  expect(kindsOf(await run.events()).filter((kind) => kind === 'slept')).toHaveLength(2);
});

test('a step has retries of its own, which do not count as attempts of the run', async () => {
  const attempts: number[] = [];
  const keys = new Set<string>();
  const type = jobType('flaky', {
    retry: { attempts: 1 },
    run: ({ step }) => step('call', { retry: { attempts: 3, base: '1s' } }, ({ attempt, idempotencyKey }) => {
      attempts.push(attempt);
      keys.add(idempotencyKey);
      if (attempt < 3) throw new Error('not yet');
      return 'done';
    }),
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.advance('10s');
  expect(await resultOf(run)).toBe('done');
  expect(attempts).toEqual([1, 2, 3]);
  expect(keys.size).toBe(1);
});

test('a retry by hand continues after the finished steps, with the same idempotency key', async () => {
  const calls: string[] = [];
  let isBroken = true;
  const type = jobType('payment', {
    retry: { attempts: 1 },
    run: async ({ step }) => {
      await step('plan', ({ idempotencyKey }) => calls.push(`plan ${idempotencyKey}`));
      return step('pay', ({ idempotencyKey }) => {
        calls.push(`pay ${idempotencyKey}`);
        if (isBroken) throw new Error('the bank is closed');
        return 'paid';
      });
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  isBroken = false;
  await run.retry();
  await t.drain();
  const { id } = run;
  expect(calls).toEqual([`plan ${id}.1.plan`, `pay ${id}.1.pay`, `pay ${id}.1.pay`]);
  await run.retry();
  await t.drain();
  expect(calls.slice(3), 'a run that succeeded starts over').toEqual([`plan ${id}.3.plan`, `pay ${id}.3.pay`]);
});

test('a retry from a step forgets it and the steps that were stored after it', async () => {
  const calls: string[] = [];
  const type = jobType('parts', {
    run: async ({ step }) => {
      for (const name of ['a', 'b', 'c']) await step(name, ({ idempotencyKey }) => calls.push(idempotencyKey));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  expect(await refused(run.retry({ from: 'd' }))).toBe('unknown.step');
  await run.retry({ from: 'b' });
  await t.drain();
  const { id } = run;
  expect(calls).toEqual([`${id}.1.a`, `${id}.1.b`, `${id}.1.c`, `${id}.2.b`, `${id}.2.c`]);
  expect((await run.events()).find(({ kind }) => kind === 'reopened')).toMatchObject({ from: 'b' });
  expect((await t.engine.steps(id)).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
});

test('the limit of steps counts stored ones, and a retry finds a step behind the first ten thousand', async () => {
  const cluster = new Cluster();
  const type = jobType('many', {
    retry: { attempts: 2, base: '1s' },
    run: async ({ step, run, fence }) => {
      if (run.attempt > 1) return step('one more', () => 1);
      const end = { job: run.id, fence, kind: 'step', startedAt: 0, endedAt: 0, result: '1', question: null } as const;
      await engine.jobs.store.writeSteps(Array.from({ length: stepsMax + 1 }, (_, index) => ({ ...end, name: `s${index}`, n: index + 1 })));
      throw new Error('once more');
    },
  });
  const engine = await cluster.join({ types: [type] });
  const run = await engine.createJobRun(type);
  await cluster.advance('10s');
  expect((await run.get()).error).toMatchObject({ message: expect.stringContaining('more than 10000 steps') });
  await engine.suspend();
  expect(await run.retry({ from: `s${stepsMax}` })).toMatchObject({ state: 'pending' });
  expect(await engine.steps(run.id, { after: stepsMax - 2 })).toHaveLength(2);
});

test('a worker that has lost the job stores nothing of its steps', async () => {
  const cluster = new Cluster();
  const door = new Door();
  const ended: unknown[] = [];
  const type = jobType('lost', {
    run: async ({ step, run }) => {
      try {
        return await step('work', async () => {
          if (run.attempt === 1) await door.pass();
          return run.attempt;
        });
      } catch (error) {
        ended.push(error);
        throw error;
      }
    },
  });
  const first = await cluster.join({ types: [type] });
  const run = await first.createJobRun(type);
  await cluster.advance('1s');
  cluster.kill(first);
  const second = await cluster.join({ types: [type] });
  await cluster.advance('2m');
  expect(await resultOf(second.run(run.id))).toBe(2);
  door.open();
  await cluster.advance('1s');
  expect((await second.steps(run.id)).map(({ result }) => result)).toEqual(['2']);
  expect(ended.every((error) => error instanceof LeaseLost || error instanceof Error)).toBe(true);
});

test('a cancel ends a run that sleeps', async () => {
  const type = jobType('sleeper', { run: ({ sleep }) => sleep('long', '30d') });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await run.cancel();
  await t.drain();
  expect(runState(await run.get())).toBe('CANCELLED');
});

test('tasks have steps and sleeps of their own', async () => {
  const calls: string[] = [];
  const type = jobType('split', {
    taskDetails: () => [1, 2],
    taskResults: async ({ task, step, sleep }) => {
      await step('begin', () => calls.push(`begin ${task}`));
      await sleep('pause', '1h');
      return step('end', () => calls.push(`end ${task}`));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  await t.drain();
  await t.advance('2h');
  await resultOf(run);
  expect(calls.toSorted()).toEqual(['begin 1', 'begin 2', 'end 1', 'end 2']);
});

test('a run sleeps 30 days across 40 deploys', async () => {
  const calls: string[] = [];
  const type = jobType('patient', {
    run: async ({ step, sleep }) => {
      await step('begin', () => calls.push('begin'));
      await sleep('a month', '30d');
      return step('end', () => calls.push('end'));
    },
  });
  const t = await start({ types: [type] });
  const run = await t.createJobRun(type);
  for (let deploys = 0; deploys < 40; deploys += 1) {
    await t.advance('17h');
    await t.restart();
  }
  expect(runState(await run.get())).toBe('PENDING');
  await t.advance('3d');
  expect(await resultOf(run)).toBe(2);
  expect(calls).toEqual(['begin', 'end']);
  expect(kindsOf(await run.events())).toEqual(['created', 'claimed', 'slept', 'claimed', 'succeeded']);
});

test('a run sleeps 30 days across 40 deploys, and no step is executed twice', async () => {
  const calls: string[] = [];
  const type = (build: number) => jobType('patient', {
    run: async ({ step, sleep, waitFor }) => {
      await step('begin', () => void calls.push(`begun by ${build}`));
      const [answer] = await Promise.all([waitFor('ok', { timeout: '60d' }), sleep('a month', '30d')]);
      return step('end', () => `${String(answer)} in build ${build}`);
    },
  });
  const t = await start({ types: [type(0)] });
  const run = await t.createJobRun(type(0));
  for (let build = 1; build <= 40; build += 1) {
    await t.advance('17h');
    if (build === 20) await t.answer(run, 'ok', 'yes', { by: 'ada' });
    expect(runState(await run.get())).toBe('PENDING');
    await t.restart({ types: [type(build)] });
  }
  await t.advance('2d');
  expect(await resultOf(run)).toBe('yes in build 40');
  expect(calls).toEqual(['begun by 0']);
  const { attempt, crashes } = await run.get();
  expect([attempt, crashes]).toEqual([1, 0]);
  const claims = (await run.events()).filter(({ kind }) => kind === 'claimed');
  expect(claims).toHaveLength(3);
});
