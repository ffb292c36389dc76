// Working on jobs: who is handed what, under which lease, and what becomes of it.
import { describe, expect } from 'vitest';
import { defaultRetry } from '../../src/model/retry.ts';
import { storesOfRun } from '../support/stores.ts';
import { broken, codeOf, minute, refusalOf, startOfTime, tester, testOn } from './world.ts';

describe.each(storesOfRun)('claiming on $name', (kind) => {
  const test = testOn(kind);

  test('S31: the highest priority comes first, then the earliest due, then the lowest id', async ({ world }) => {
    const drafts = [
      { key: 'late', due: startOfTime - 1 },
      { key: 'early', due: startOfTime - 5 },
      { key: 'early too', due: startOfTime - 5 },
      { key: 'urgent', priority: 10 },
      { key: 'never mind', priority: -10, due: 0 },
    ];
    for (const draft of drafts) await world.create(draft);
    const claimed = await world.claim({ limit: 10 });
    expect(claimed.map(({ key }) => key)).toEqual(['urgent', 'early', 'early too', 'late', 'never mind']);
  });

  test('the order holds across types, kinds and calls', async ({ world }) => {
    await world.create({ type: 'a', priority: 1 });
    await world.create({ type: 'b', priority: 3, kind: 'bedrock' });
    await world.create({ type: 'c', priority: 2, kind: 'task' });
    const order = [await world.claim(), await world.claim(), await world.claim()].flat();
    expect(order.map(({ type }) => type)).toEqual(['b', 'c', 'a']);
  });

  test('S20: a job that is due later is not handed out before', async ({ world }) => {
    const job = await world.create({ due: startOfTime + minute });
    await world.clock.advance(minute - 1);
    expect(await world.claimIds()).toEqual([]);
    await world.clock.advance(1);
    expect(await world.claimIds()).toEqual([job.id]);
  });

  test('a claim hands out only what it names', async ({ world }) => {
    const [mail, post, maintain] = [
      await world.create({ type: 'mail' }),
      await world.create({ type: 'post' }),
      await world.create({ type: 'maintain' }),
    ];
    await world.create({ type: 'mail', kind: 'bedrock' });
    expect(await world.claimIds({ names: { exact: ['post', 'none'] } })).toEqual([post.id]);
    expect(await world.claimIds({ names: { glob: 'mai[a-m]*' }, kinds: ['run'] })).toEqual([mail.id]);
    expect(await world.claimIds({ names: { glob: 'ma*' }, kinds: ['run'] })).toEqual([maintain.id]);
  });

  test('a claim hands out no more than its limit, and of the priorities it names', async ({ world }) => {
    for (const priority of [1, 2, 3, 2]) await world.create({ priority });
    expect(await world.claimIds({ limit: 0 })).toEqual([]);
    expect((await world.claim({ limit: 1, priorities: [2] })).map(({ priority }) => priority)).toEqual([2]);
    expect((await world.claim({ limit: 5, priorities: [1, 2] })).map(({ priority }) => priority)).toEqual([2, 1]);
  });

  test('a claimed job has a lease, a fence and an attempt', async ({ world }) => {
    const job = await world.running({}, { holder: 'ada', leaseMs: 5000 });
    expect(job).toMatchObject({
      state: 'running',
      lease: { holder: 'ada', until: startOfTime + 5000 },
      fence: 1,
      attempt: 1,
      startedAt: startOfTime,
      version: 2,
    });
    expect(await world.get(job)).toEqual(job);
  });

  test('S3: the fence rises with every claim, also across a retry by hand', async ({ world }) => {
    const first = await world.running();
    await world.jobs.release(first, first.fence, tester);
    const second = await world.claimOne(first);
    await world.jobs.succeed(second, second.fence, tester);
    await world.jobs.retry(first.id, tester);
    const third = await world.claimOne(first);
    expect([first.fence, second.fence, third.fence]).toEqual([1, 2, 3]);
  });

  test('a job that must start by a time ends as cancelled when it is too late', async ({ world }) => {
    const job = await world.create({ policy: { startBy: startOfTime + 10 } });
    await world.clock.advance(11);
    expect(await world.claimIds()).toEqual([]);
    expect(await world.get(job)).toMatchObject({ fate: 'cancelled', cancel: { code: 'automation' }, attempt: 0 });
  });

  test('a limit on a key lets as many through as it says, over all claims', async ({ world }) => {
    for (const limitKey of ['acme', 'acme', 'acme', 'other']) await world.create({ type: 'mail', limitKey });
    const limits = { types: new Map(), defs: new Map(), keys: new Map([['mail', 2]]) };
    const first = await world.claim({ limit: 10, limits });
    expect(first).toHaveLength(3);
    expect(await world.claimIds({ limits })).toEqual([]);
    await world.jobs.succeed(first[0]!, first[0]!.fence, tester);
    expect(await world.claimIds({ limits })).toHaveLength(1);
  });

  test('the longest names and keys there may be can wait at a gate', async ({ world }) => {
    const long = (bytes: number): string =>
      Array.from({ length: Math.floor(bytes / 3) }, (_, at) =>
        String.fromCharCode(0x4e00 + ((at * 7919) % 20_000)),
      ).join('');
    const job = await world.create({
      type: long(255),
      def: long(255),
      limitKey: long(512),
      gate: { typeMax: 1, defMax: 1 },
    });
    expect(await world.claimIds()).toEqual([job.id]);
  });

  test('a job only for the leader is not handed out to others', async ({ world }) => {
    const job = await world.create({ policy: { leaderOnly: true } });
    expect(await world.claimIds()).toEqual([]);
    expect(await world.claimIds({ isLeader: true })).toEqual([job.id]);
  });
});

describe.each(storesOfRun)('leases on $name', (kind) => {
  const test = testOn(kind);

  test('S4: a stale holder can write nothing', async ({ world }) => {
    const stale = await world.running();
    await world.clock.advance(minute);
    await world.repair();
    const current = await world.claimOne(stale, { holder: 'other' });
    const { jobs } = world;
    const tries = {
      succeed: () => jobs.succeed(stale, stale.fence, tester, '1'),
      'succeed by id': () => jobs.succeed(stale.id, stale.fence, tester, '1'),
      fail: () => jobs.fail(stale, stale.fence, broken, tester),
      release: () => jobs.release(stale, stale.fence, tester),
      children: () => jobs.createChildren(stale.id, [{ type: 'child' }], 'worker', stale.fence),
    };
    for (const [name, attempt] of Object.entries(tries)) {
      const refusal = await refusalOf(attempt());
      expect([name, refusal.code]).toEqual([name, 'lost.lease']);
      expect(refusal.detail).toMatchObject({ id: stale.id, fence: stale.fence, currentFence: current.fence });
    }
    const holding = { id: stale.id, fence: stale.fence };
    expect(await jobs.extend([holding], 10 * minute)).toEqual([false]);
    expect(await world.store.writeNotes([{ ...holding, progress: '{}' }])).toEqual([false]);
    expect(await world.get(current)).toEqual(current);
    expect(await jobs.succeed(current, current.fence, tester)).toMatchObject({ fate: 'succeeded' });
  });

  test('S2: an ended job takes no more outcomes, not even from its last holder', async ({ world }) => {
    const job = await world.running();
    const ended = await world.jobs.succeed(job, job.fence, tester, '1');
    expect(await codeOf(world.jobs.succeed(job, job.fence, tester, '2'))).toBe('lost.lease');
    expect(await codeOf(world.jobs.fail(job, job.fence, broken, tester))).toBe('lost.lease');
    expect(await world.get(job)).toEqual(ended);
  });

  test('a fence that is left out is refused, not ignored', async ({ world }) => {
    const job = await world.running();
    const none = undefined as unknown as number;
    expect(await codeOf(world.jobs.succeed(job, none, tester))).toBe('malformed.number');
    expect(await codeOf(world.jobs.release(job.id, none, tester))).toBe('malformed.number');
    expect(await world.get(job)).toEqual(job);
  });

  test('S6: a lease that is extended does not lapse before its new end', async ({ world }) => {
    const job = await world.running();
    await world.clock.advance(minute - 1);
    expect(await world.jobs.extend([{ id: job.id, fence: job.fence }], minute)).toEqual([true]);
    await world.clock.advance(minute - 1);
    expect(await world.repair()).toEqual([]);
    await world.clock.advance(1);
    expect(await world.repair()).toMatchObject([{ id: job.id, state: 'pending' }]);
  });

  test('extending never shortens a lease', async ({ world }) => {
    const job = await world.running({}, { leaseMs: 10 * minute });
    expect(await world.jobs.extend([{ id: job.id, fence: job.fence }], minute)).toEqual([true]);
    expect(await world.get(job)).toMatchObject({ lease: { until: startOfTime + 10 * minute } });
  });

  test('a lease that is over cannot be extended, each of several for itself', async ({ world }) => {
    const short = await world.running({ type: 'short' }, { leaseMs: 1000 });
    const long = await world.running({ type: 'long' }, { leaseMs: minute });
    await world.clock.advance(1000);
    const holdings = [short, long, { id: 4711, fence: 1 }].map(({ id, fence }) => ({ id, fence }));
    expect(await world.jobs.extend(holdings, minute)).toEqual([false, true, false]);
  });

  test('S6: what happens to a job meanwhile takes nothing from a lease that was extended', async ({ world }) => {
    const job = await world.running({}, { leaseMs: 1000 });
    // The holder extends its lease between the read and the write of another operation.
    const commit = world.store.commit.bind(world.store);
    world.store.commit = async (batch) => {
      world.store.commit = commit;
      await world.jobs.extend([{ id: job.id, fence: job.fence }], minute);
      return commit(batch);
    };
    await world.jobs.edit(job.id, { priority: 9 }, tester);
    expect(await world.get(job)).toMatchObject({ priority: 9, lease: { until: startOfTime + minute } });
    // The same with an old version of the job.
    await world.jobs.conclude([{ job, command: { do: 'cancel', code: 'user' } }], tester);
    expect(await world.get(job)).toMatchObject({ cancel: { code: 'user' }, lease: { until: startOfTime + minute } });
    await world.clock.advance(1000);
    expect(await world.repair()).toEqual([]);
  });
});

describe.each(storesOfRun)('outcomes on $name', (kind) => {
  const test = testOn(kind);

  test('a finished job has succeeded, with its result', async ({ world }) => {
    const job = await world.running();
    await world.clock.advance(5);
    const ended = await world.jobs.succeed(job, job.fence, { by: 'worker' }, '{"sent":3}');
    expect(ended).toMatchObject({
      state: 'ended',
      fate: 'succeeded',
      endedAt: startOfTime + 5,
      result: '{"sent":3}',
      error: null,
    });
    expect(await world.get(job)).toEqual(ended);
    expect(await world.jobs.history(job.id, 3)).toEqual([
      { n: 3, at: startOfTime + 5, by: 'worker', kind: 'succeeded' },
    ]);
  });

  test('a failed try is tried again after its back-off, until the tries are used up', async ({ world }) => {
    const policy = { attemptsMax: 3, baseMs: 1000, backoff: 'exponential', jitter: 0 } as const;
    let job = await world.running({ policy });
    for (const wait of [1000, 2000]) {
      const retried = await world.jobs.fail(job, job.fence, broken, tester);
      expect(retried).toMatchObject({ state: 'pending', due: world.now() + wait, error: broken });
      await world.clock.advance(wait - 1);
      expect(await world.claimIds()).toEqual([]);
      await world.clock.advance(1);
      job = await world.claimOne(job);
    }
    expect(job.attempt).toBe(3);
    const failed = await world.jobs.fail(job, job.fence, { ...broken, data: { at: 3 }, stack: 'somewhere' }, tester);
    expect(failed).toMatchObject({
      state: 'ended',
      fate: 'failed',
      error: { ...broken, data: { at: 3 }, stack: 'somewhere' },
    });
    expect(await world.get(job)).toEqual(failed);
    expect(await world.events(job)).toEqual([
      'created',
      'claimed',
      'retried',
      'claimed',
      'retried',
      'claimed',
      'failed',
    ]);
  });

  test('by default there are three tries, each within its bounds', async ({ world }) => {
    let job = await world.running();
    for (const longest of [2000, 4000]) {
      const { due } = await world.jobs.fail(job, job.fence, broken, tester);
      expect(due - world.now()).toBeGreaterThanOrEqual(longest * (1 - defaultRetry.jitter));
      expect(due - world.now()).toBeLessThanOrEqual(longest);
      await world.clock.advance(longest);
      job = await world.claimOne(job);
    }
    expect(await world.jobs.fail(job, job.fence, broken, tester)).toMatchObject({ fate: 'failed' });
  });

  test('an error that is not worth another try ends the job at once', async ({ world }) => {
    const job = await world.running();
    expect(await world.jobs.fail(job, job.fence, broken, tester, false)).toMatchObject({ fate: 'failed', attempt: 1 });
  });

  test('a handler can say itself when to try again', async ({ world }) => {
    const job = await world.running();
    const command = { do: 'fail', fence: job.fence, error: broken, retryable: true, retryAt: startOfTime + 7 } as const;
    const [answer] = await world.jobs.conclude([{ job, command }], tester);
    expect(answer).toMatchObject({ after: { state: 'pending', due: startOfTime + 7 } });
  });

  test('S7: a released job loses no attempt, however often it is released', async ({ world }) => {
    let job = await world.running({ policy: { attemptsMax: 1 } });
    for (let round = 0; round < 5; round += 1) {
      expect(await world.jobs.release(job, job.fence, tester)).toMatchObject({
        state: 'pending',
        attempt: 0,
        due: startOfTime,
      });
      job = await world.claimOne(job);
    }
    expect(job).toMatchObject({ attempt: 1, fence: 6 });
    expect(await world.jobs.fail(job, job.fence, broken, tester)).toMatchObject({ fate: 'failed' });
  });

  test('a job can be released until a later time', async ({ world }) => {
    const job = await world.running();
    await world.jobs.release(job, job.fence, tester, startOfTime + minute);
    expect(await world.claimIds()).toEqual([]);
    await world.clock.advance(minute);
    expect(await world.claimIds()).toEqual([job.id]);
  });

  test('a success after a failure clears the error', async ({ world }) => {
    const job = await world.running();
    await world.jobs.fail(job, job.fence, broken, tester);
    await world.clock.advance(minute);
    const again = await world.claimOne(job);
    expect(await world.jobs.succeed(again, again.fence, tester)).toMatchObject({ fate: 'succeeded', error: null });
  });

  test('a job that repeats is due again by its rule, with its tries counted anew and no result yet', async ({
    world,
  }) => {
    const job = await world.running({ policy: { repeat: 'FINISHED, +1 HOUR' } });
    const again = await world.jobs.succeed(job, job.fence, tester, '1');
    expect(again).toMatchObject({ state: 'pending', due: startOfTime + 60 * minute, attempt: 0, result: null });
    expect(await world.get(job)).toEqual(again);
    expect(await world.events(job)).toEqual(['created', 'claimed', 'repeated']);
  });

  test('a job handed off is finished from outside under the same fence', async ({ world }) => {
    const job = await world.running();
    const command = { do: 'handOff', fence: job.fence, holder: 'outside', until: startOfTime + 60 * minute } as const;
    await world.jobs.conclude([{ job, command }], tester);
    expect(await world.get(job)).toMatchObject({
      state: 'running',
      fence: 1,
      lease: { holder: 'outside', until: startOfTime + 60 * minute },
    });
    expect(await world.jobs.succeed(job.id, job.fence, { by: 'outside' })).toMatchObject({ fate: 'succeeded' });
  });

  test('of many outcomes each is answered for itself, in order', async ({ world }) => {
    for (let at = 0; at < 4; at += 1) await world.create();
    const jobs = await world.claim({ limit: 4 });
    const answers = await world.jobs.conclude(
      [
        { job: jobs[0]!, command: { do: 'succeed', fence: 1, result: '"done"' } },
        { job: jobs[1]!, command: { do: 'succeed', fence: 99 } },
        { job: 4711, command: { do: 'succeed', fence: 1 } },
        { job: jobs[2]!.id, command: { do: 'release', fence: 1 } },
        { job: jobs[3]!, command: { do: 'fail', fence: 1, error: broken, retryable: false } },
      ],
      tester,
    );
    expect(answers.map((answer) => ('code' in answer ? answer.code : answer.events.at(-1)!.kind))).toEqual([
      'succeeded', 'lost.lease', 'unknown.job', 'released', 'failed',
    ]);
  });

  test('of two outcomes of one job in one call the first counts', async ({ world }) => {
    const job = await world.running();
    const answers = await world.jobs.conclude(
      [
        { job, command: { do: 'succeed', fence: job.fence, result: '1' } },
        { job, command: { do: 'succeed', fence: job.fence, result: '2' } },
      ],
      tester,
    );
    expect(answers[0]).toMatchObject({ after: { fate: 'succeeded' } });
    expect(answers[1]).toMatchObject({ code: 'lost.lease' });
    expect(await world.get(job)).toMatchObject({ result: '1' });
  });
});

describe.each(storesOfRun)('lost workers on $name', (kind) => {
  const test = testOn(kind);

  test('a job whose lease is over goes back to the queue at once, and the try does not count', async ({ world }) => {
    const job = await world.running({ policy: { attemptsMax: 1 } }, { holder: 'ada' });
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ id: job.id, state: 'pending', attempt: 0, crashes: 1 }]);
    expect(await world.lastEvent(job)).toMatchObject({ kind: 'lapsed', holder: 'ada', phase: 'run', by: 'repairer' });
    expect(await world.claimIds()).toEqual([job.id]);
  });

  test('a lease that is not over yet is left alone', async ({ world }) => {
    const job = await world.running();
    await world.clock.advance(minute - 1);
    expect(await world.repair()).toEqual([]);
    const [answer] = await world.jobs.conclude([{ job, command: { do: 'lapse' } }], tester);
    expect(answer).toMatchObject({ code: 'wrong.state' });
    expect(await world.get(job)).toEqual(job);
  });

  test('S7: a job whose workers keep crashing fails when its crash budget is used up', async ({
    world,
  }) => {
    const job = await world.create({ policy: { crashesMax: 2, jitter: 0, baseMs: 1000, backoff: 'fixed' } });
    for (const crashes of [1]) {
      await world.claimOne(job);
      await world.clock.advance(minute);
      expect(await world.repair()).toMatchObject([{ state: 'pending', crashes }]);
      await world.clock.advance(1000);
    }
    await world.claimOne(job, { holder: 'the last' });
    await world.clock.advance(minute);
    const [poisoned] = await world.repair();
    expect(poisoned).toMatchObject({
      fate: 'failed',
      error: { code: 'crashed', message: expect.stringContaining('the last') },
    });
    expect(await world.get(job)).toEqual(poisoned);
  });

  test('from the second crash on a job waits before it takes down the next worker', async ({ world }) => {
    const job = await world.create({ policy: { jitter: 0, baseMs: 1000, backoff: 'fixed' } });
    await world.claimOne(job);
    await world.clock.advance(minute);
    await world.repair();
    await world.claimOne(job);
    await world.clock.advance(minute);
    await world.repair();
    expect(await world.claimIds()).toEqual([]);
    await world.clock.advance(1000);
    expect(await world.claimIds()).toEqual([job.id]);
  });

  test('a job held for as long as its instance lives lapses when that is gone', async ({ world }) => {
    const about = { host: 'h', pid: 1, version: '1', types: [], slots: 1, busy: 0, draining: false };
    await world.store.beat({ id: 'ada', leaseMs: minute, about, holds: [] });
    const job = await world.running({}, { holder: 'ada', leaseMs: null });
    await world.clock.advance(minute - 1);
    expect(await world.repair()).toEqual([]);
    await world.clock.advance(1);
    expect(await world.repair()).toMatchObject([{ id: job.id, state: 'pending' }]);
  });

  test('a run lost while it prepares prepares again; one lost while it gathers gathers again', async ({ world }) => {
    const run = await world.running({ type: 'family', phase: 'prepare' });
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ phase: 'prepare', state: 'pending' }]);
    await world.plan(await world.claimOne(run), 0);
    await world.claimOne(run);
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ phase: 'gather', state: 'pending' }]);
  });

  test('a job that was asked to cancel and lost its worker ends as cancelled', async ({ world }) => {
    const job = await world.running();
    await world.jobs.cancel(job.id, tester);
    await world.clock.advance(minute);
    expect(await world.repair()).toMatchObject([{ fate: 'cancelled', crashes: 0 }]);
  });
});
