// Runs that follow runs: created in one commit, continued after the last end, retried, cancelled and deleted.
import { describe, expect } from 'vitest';
import type { FlowDraft, FollowedRun } from '../../src/jobs/create-flow.ts';
import { forgottenEnds, forgottenFollowers } from '../../src/jobs/proceed.ts';
import { applyEach, remove } from '../../src/apply.ts';
import type { Created } from '../../src/jobs/create.ts';
import type { Following, Link } from '../../src/model/following.ts';
import type { Job } from '../../src/model/job.ts';
import { Jobs } from '../../src/jobs.ts';
import type { Store } from '../../src/store/store.ts';
import { stores, storesOfRun } from '../support/stores.ts';
import { broken, codeOf, tester, testOn, type World } from './world.ts';

const onSuccess: Following = { on: 'succeeded', otherwise: 'cancel' };
const onFailure: Following = { on: 'failed', otherwise: 'cancel' };
const patient: Following = { on: 'succeeded', otherwise: 'wait' };

const draft = (type: string, after: readonly FollowedRun[] = [], follows = onSuccess, input: unknown = null): FlowDraft =>
  ({ draft: { type, input }, after, follows });

const nth = (index: number, links: readonly Link[] = []): FollowedRun => ({ run: { index }, links });
const stored = (id: number): FollowedRun => ({ run: { id }, links: [] });

const createFollower = async (jobs: Jobs, follower: FlowDraft, by: string): Promise<Created> =>
  (await jobs.createFollowers([follower], by))[0]!;

const standings = async (world: World, jobs: readonly Job[]): Promise<string[]> =>
  Promise.all(jobs.map((job) => world.standing(job)));

async function succeed(world: World, job: Job, result?: string): Promise<void> {
  const running = await world.claimOne(job);
  await world.jobs.succeed(running, running.fence, tester, result);
}

async function fail(world: World, job: Job): Promise<void> {
  const running = await world.claimOne(job);
  await world.jobs.fail(running, running.fence, broken, tester, false);
}

/** What the maintenance does in two of its turns. */
async function makeGood(world: World): Promise<void> {
  await forgottenEnds(world.store, tester)();
  await forgottenFollowers(world.store, tester)();
}

/** The store with a function that is called before each of its methods. */
const watched = (store: Store, onCall: (name: string) => void): Store => new Proxy(store, {
  get: (target, name) => {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') return member;
    return (...args: unknown[]): unknown => {
      onCall(String(name));
      return Reflect.apply(member, target, args);
    };
  },
});

/** The store with something that happens between the reads of an operation and each of its commits. */
const beforeCommit = (store: Store, happen: () => Promise<void>): Store => new Proxy(store, {
  get: (target, name) => {
    const member: unknown = Reflect.get(target, name);
    if (typeof member !== 'function') return member;
    const call = member.bind(target) as (...args: unknown[]) => unknown;
    return name === 'commit' ? async (batch: unknown) => happen().then(() => call(batch)) : call;
  },
});

/** A run, two that follow it, one that follows both, and one that runs if one of the two does not succeed. */
async function diamond(world: World): Promise<readonly Job[]> {
  return world.jobs.createFlow([
    draft('extract'),
    draft('part', [nth(0)]),
    draft('part', [nth(0)]),
    draft('load', [nth(1), nth(2)]),
    draft('alert', [nth(1), nth(2)], onFailure),
  ], 'tester');
}

describe.each(storesOfRun)('a flow on $name', (kind) => {
  const test = testOn(kind);

  test('runs start when all runs that they follow have succeeded', async ({ world }) => {
    const runs = await diamond(world);
    const [extract, first, second, load, alert] = runs as [Job, Job, Job, Job, Job];
    expect(await standings(world, runs)).toEqual(['pending', 'held by runs', 'held by runs', 'held by runs', 'held by runs']);
    await succeed(world, extract);
    expect(await standings(world, runs)).toEqual(['succeeded', 'pending', 'pending', 'held by runs', 'held by runs']);
    await succeed(world, first);
    expect(await world.standing(load)).toBe('held by runs');
    await succeed(world, second);
    expect(await standings(world, [load, alert])).toEqual(['pending', 'cancelled']);
    expect(await world.lastEvent(load)).toMatchObject({ kind: 'proceeded' });
  });

  test('a failure cancels what follows it, step by step, and starts what waits for a failure', async ({ world }) => {
    const runs = await diamond(world);
    await fail(world, runs[0]!);
    expect(await standings(world, runs)).toEqual(['failed', 'cancelled', 'cancelled', 'cancelled', 'pending']);
  });

  test('results become parts of the input, also those of a run that was deleted', async ({ world }) => {
    const links = (to: number): Link[] => [{ from: ['rows', 1], to: ['all', to] }];
    const [first, second, load] = await world.jobs.createFlow([
      draft('part'), draft('part'),
      draft('load', [nth(0, links(0)), nth(1, links(1))], { ...onSuccess, hasLinks: true }, { all: [null, null] }),
    ], 'tester') as [Job, Job, Job];
    await succeed(world, first, '{"rows":[1,2]}');
    await world.jobs.delete(first.id);
    await succeed(world, second, '{"rows":[]}');
    expect(await world.get(load)).toMatchObject({ state: 'pending', input: '{"all":[2,null]}' });
  });

  test('a crash between an end and what follows is made good', async ({ world }) => {
    const [first, second, last] = await world.jobs.createFlow(
      [draft('a'), draft('b', [nth(0)]), draft('c', [nth(1)])], 'tester',
    ) as [Job, Job, Job];
    const stop = { do: 'stop', code: 'admin' } as const;
    await applyEach(world.store, [{ job: first.id, command: stop }], tester);
    expect(await world.standing(second)).toBe('held by runs');
    await makeGood(world);
    expect(await standings(world, [second, last])).toEqual(['cancelled', 'cancelled']);
    const [, third] = await world.jobs.createFlow([draft('a'), draft('b', [nth(0)])], 'tester') as [Job, Job];
    await applyEach(world.store, [{ job: third.id - 1, command: stop }], tester);
    await world.store.closeEdges([third.id - 1]);
    await makeGood(world);
    expect(await world.standing(third)).toBe('cancelled');
  });

  test('a run follows stored runs, open or ended, and the end of an open one counts', async ({ world }) => {
    const [ended, open] = [await world.create(), await world.create()] as [Job, Job];
    await succeed(world, ended);
    const { job } = await createFollower(world.jobs, draft('report', [stored(ended.id), stored(open.id)]), 'tester');
    expect(job).toMatchObject({ state: 'held', hold: 'runs' });
    expect(await world.lastEvent(open)).toMatchObject({ kind: 'followed', runs: 1 });
    await succeed(world, open);
    expect(await world.standing(job!)).toBe('pending');
    const late = await createFollower(world.jobs, draft('report', [stored(ended.id)]), 'tester');
    expect(late.job).toMatchObject({ state: 'pending' });
  });

  test('what cannot be created leaves nothing behind', async ({ world }) => {
    const before = await world.count();
    expect(await codeOf(world.jobs.createFlow([draft('a'), draft('b', [stored(4711)])], 'tester'))).toBe('unknown.job');
    expect(await codeOf(world.jobs.createFlow([], 'tester'))).toBe('malformed.flow');
    const many = Array.from({ length: 100_001 }, (_, index) => nth(index % 2));
    expect(await codeOf(world.jobs.createFlow([draft('a'), draft('b'), draft('c', many)], 'tester'))).toBe('malformed.flow');
    expect(await world.count()).toBe(before);
  });

  test('a follower that waits for a retry starts after it', async ({ world }) => {
    const [first, last] = await world.jobs.createFlow([draft('a'), draft('b', [nth(0)], patient)], 'tester') as [Job, Job];
    await fail(world, first);
    expect(await world.standing(last)).toBe('held by runs');
    await world.jobs.retry(first.id, tester);
    expect(await world.lastEvent(last)).toMatchObject({ kind: 'awaited', runs: 1 });
    expect((await world.store.tallyEdges([last.id])).get(last.id)).toMatchObject({ open: 1 });
    await succeed(world, first);
    expect(await world.standing(last)).toBe('pending');
  });

  test('a follower of a run that had failed before starts after its retry', async ({ world }) => {
    const first = await world.create();
    await fail(world, first);
    const { job } = await createFollower(world.jobs, draft('report', [stored(first.id)], patient), 'tester');
    const { job: second } = await createFollower(world.jobs, draft('report', [stored(first.id)], patient), 'tester');
    expect(await standings(world, [job!, second!])).toEqual(['held by runs', 'held by runs']);
    await world.jobs.retry(first.id, tester);
    await succeed(world, first);
    expect(await standings(world, [job!, second!])).toEqual(['pending', 'pending']);
  });

  test('a run that was followed before is followed without a change, and its end counts', async ({ world }) => {
    const first = await world.create();
    await createFollower(world.jobs, draft('report', [stored(first.id)]), 'tester');
    const { version } = await world.get(first);
    const many = await Promise.all(Array.from({ length: 60 }, () =>
      createFollower(world.jobs, draft('report', [stored(first.id)]), 'tester')));
    expect((await world.get(first)).version).toBe(version);
    await succeed(world, first);
    expect(new Set(await standings(world, many.map(({ job }) => job!)))).toEqual(new Set(['pending']));
    const late = await createFollower(world.jobs, draft('report', [stored(first.id)]), 'tester');
    expect(late.job).toMatchObject({ state: 'pending' });
  });

  test('the limit of the start counts from the end of the runs before', async ({ world }) => {
    const startBy = world.now() + 1000;
    const [first, last] = await world.jobs.createFlow([
      draft('a'), { ...draft('b', [nth(0)]), draft: { type: 'b', policy: { startBy } } },
    ], 'tester') as [Job, Job];
    await world.clock.advance(5000);
    await succeed(world, first);
    expect((await world.get(last)).policy.startBy).toBe(startBy + 5000);
  });

  test('a retry reopens the run alone, or what failed downstream, or all of it', async ({ world }) => {
    const runs = await diamond(world);
    await fail(world, runs[0]!);
    await succeed(world, runs[4]!);
    await world.jobs.retry(runs[0]!.id, tester);
    expect(await standings(world, runs)).toEqual(['pending', 'cancelled', 'cancelled', 'cancelled', 'succeeded']);
    await fail(world, runs[0]!);
    await world.jobs.retry(runs[0]!.id, tester, { downstream: 'failed' });
    expect(await standings(world, runs)).toEqual(['pending', 'held by runs', 'held by runs', 'held by runs', 'succeeded']);
    for (const run of runs.slice(0, 4)) await succeed(world, run);
    await world.jobs.retry(runs[0]!.id, tester, { downstream: 'all' });
    expect(await standings(world, runs)).toEqual(['pending', 'held by runs', 'held by runs', 'held by runs', 'held by runs']);
  });

  test('a flow is retried from what failed, and what was cancelled because of it waits again', async ({ world }) => {
    const runs = await diamond(world);
    await succeed(world, runs[0]!);
    await fail(world, runs[1]!);
    await succeed(world, runs[2]!);
    await fail(world, runs[4]!);
    await world.jobs.retryFlow(runs[0]!.id, tester);
    expect(await standings(world, runs)).toEqual(['succeeded', 'pending', 'succeeded', 'held by runs', 'held by runs']);
  });

  test('a follower that was cancelled before it started waits again for its runs, and gets their results', async ({ world }) => {
    const links: Link[] = [{ from: ['rows'], to: ['rows'] }];
    const follows = { ...onSuccess, hasLinks: true } as const;
    const [first, second, last] = await world.jobs.createFlow([
      draft('a'), draft('b'), draft('c', [nth(0, links), nth(1)], follows, { rows: null }),
    ], 'tester') as [Job, Job, Job];
    await succeed(world, second);
    await fail(world, first);
    expect(await codeOf(world.jobs.retry(last.id, tester))).toBe('wrong.state');
    await world.jobs.retry(first.id, tester);
    expect(await world.jobs.retry(last.id, tester)).toMatchObject({ state: 'held', hold: 'runs' });
    await succeed(world, first, '{"rows":3}');
    expect(await world.get(last)).toMatchObject({ state: 'pending', input: '{"rows":3}' });
    await world.jobs.cancel(last.id, tester);
    expect(await world.jobs.retry(last.id, tester)).toMatchObject({ state: 'pending', input: '{"rows":3}' });
  });

  test('a follower waits again for all of its runs that are open, and a flow finds it after the retry of a run', async ({ world }) => {
    const [first, second, last, end] = await world.jobs.createFlow(
      [draft('a'), draft('b'), draft('c', [nth(0), nth(1)]), draft('d', [nth(2)])], 'tester',
    ) as [Job, Job, Job, Job];
    await fail(world, first);
    await fail(world, second);
    await world.jobs.retry(second.id, tester);
    await world.jobs.retry(first.id, tester, { downstream: 'failed' });
    await succeed(world, first);
    expect(await standings(world, [last, end])).toEqual(['held by runs', 'held by runs']);
    await fail(world, second);
    expect(await standings(world, [last, end])).toEqual(['cancelled', 'cancelled']);
    await world.jobs.retry(second.id, tester);
    expect((await world.jobs.retryFlow(first.id, tester)).map(({ id }) => id)).toEqual([last.id, end.id]);
    await succeed(world, second);
    expect(await standings(world, [last, end])).toEqual(['pending', 'held by runs']);
  });

  test('a run that is deleted while a follower is created counts as cancelled', async ({ world }) => {
    const first = await world.create();
    await createFollower(world.jobs, draft('report', [stored(first.id)]), 'tester');
    await succeed(world, first);
    const racing = new Jobs(beforeCommit(world.store, async () => {
      const current = await world.get(first).catch(() => null);
      if (current !== null) await world.store.commit({ changes: [{ before: current, after: null, events: [] }] });
    }));
    const { job } = await createFollower(racing, draft('report', [stored(first.id)]), 'tester');
    expect(await world.standing(job!)).toBe('cancelled');
  });

  test('a follower that is created while the run is retried waits for the retry', async ({ world }) => {
    const first = await world.create();
    await createFollower(world.jobs, draft('report', [stored(first.id)], patient), 'tester');
    await fail(world, first);
    let late: Job | null = null;
    const racing = new Jobs(beforeCommit(world.store, async () => {
      late ??= (await createFollower(world.jobs, draft('report', [stored(first.id)], patient), 'tester')).job;
    }));
    await racing.retry(first.id, tester);
    await succeed(world, first);
    expect(await world.standing(late!)).toBe('pending');
  });

  test('two runs are retried at the same time, one of which follows the other', async ({ world }) => {
    const [first, last] = await world.jobs.createFlow([draft('a'), draft('b', [nth(0)], onFailure)], 'tester') as [Job, Job];
    await fail(world, first);
    await world.jobs.cancel(last.id, tester);
    const racing = new Jobs(beforeCommit(world.store, async () => {
      if ((await world.standing(first)) === 'failed') await world.jobs.retry(first.id, tester);
    }));
    await racing.retry(last.id, tester);
    expect(await standings(world, [first, last])).toEqual(['pending', 'held by runs']);
  });

  test('a flow is cancelled or stopped as a whole, and nothing of it starts because of that', async ({ world }) => {
    const runs = await diamond(world);
    expect(await world.jobs.cancelFlow(runs[0]!.id, tester)).toBe(5);
    expect(await standings(world, runs)).toEqual(runs.map(() => 'cancelled'));
    const others = await diamond(world);
    const running = await world.claimOne(others[0]!);
    expect(await world.jobs.stopFlow(others[0]!.id, tester)).toBe(5);
    expect(await standings(world, others)).toEqual(others.map(() => 'cancelled'));
    expect(await codeOf(world.jobs.succeed(running, running.fence, tester))).toBe('lost.lease');
    expect(await codeOf(world.jobs.cancelFlow(4711, tester))).toBe('unknown.flow');
  });

  test('the deletion of a run strands no follower', async ({ world }) => {
    const [first, last] = await world.jobs.createFlow([draft('a'), draft('b', [nth(0)])], 'tester') as [Job, Job];
    const running = await world.claimOne(first);
    const [answer] = await applyEach(world.store, [{ job: running, command: { do: 'succeed', fence: running.fence } }], tester);
    await remove(world.store, [(answer as { after: Job }).after]);
    await makeGood(world);
    expect(await world.standing(last)).toBe('pending');
  });

  test('a follower that waits for a retry is cancelled when the run is deleted, by hand or by retention', async ({ world }) => {
    const [first, other, last] = await world.jobs.createFlow(
      [draft('a'), draft('b'), draft('c', [nth(0), nth(1)], patient)], 'tester') as [Job, Job, Job];
    await fail(world, first);
    await world.jobs.delete(first.id, tester);
    expect(await world.standing(last)).toBe('held by runs');
    await succeed(world, other);
    expect(await world.lastEvent(last)).toMatchObject({ kind: 'cancelled', why: expect.stringContaining('deleted') });
    const again = await world.jobs.createFlow([draft('a'), draft('c', [nth(0)], patient)], 'tester') as [Job, Job];
    await fail(world, again[0]);
    await world.jobs.delete(again[0].id, tester);
    expect(await world.standing(again[1])).toBe('cancelled');
    const purged = await world.jobs.createFlow([draft('a'), draft('c', [nth(0)], patient)], 'tester') as [Job, Job];
    await fail(world, purged[0]);
    await world.clock.advance(10);
    await makeGood(world);
    expect(await world.standing(purged[1])).toBe('held by runs');
    await world.store.purge({ limit: 100, feedKeptMs: 1000, retentionMs: 1 });
    await makeGood(world);
    expect(await world.standing(purged[1])).toBe('cancelled');
  });

  test('a follower that waits for a failure waits as long as one of its runs can be retried', async ({ world }) => {
    const rule: Following = { on: 'failed', otherwise: 'wait' };
    const [first, other, last] = await world.jobs.createFlow(
      [draft('a'), draft('b'), draft('c', [nth(0), nth(1)], rule)], 'tester') as [Job, Job, Job];
    await succeed(world, first);
    await succeed(world, other);
    await world.jobs.delete(first.id, tester);
    expect(await world.standing(last)).toBe('held by runs');
    await world.jobs.delete(other.id, tester);
    expect(await world.standing(last)).toBe('cancelled');
  });

  test('a run that follows others may have a unique key', async ({ world }) => {
    const first = await world.create();
    const unique = { ...draft('report', [stored(first.id)]), draft: { type: 'report', unique: { key: 'report' } } };
    const created = await createFollower(world.jobs, unique, 'tester');
    expect(await createFollower(world.jobs, unique, 'tester')).toMatchObject({ id: created.id, outcome: 'existing' });
    expect(await world.store.edges({ followed: first.id, limit: 10 })).toHaveLength(1);
  });

  test('many followers are created in one commit, or none of them', async ({ world }) => {
    const first = await world.create();
    const followers = Array.from({ length: 20 }, () => draft('report', [stored(first.id)]));
    let commits = 0;
    const counted = new Jobs(watched(world.store, (name) => { if (name === 'commit') commits += 1; }));
    const created = await counted.createFollowers(followers, 'tester');
    expect([created.length, commits]).toEqual([20, 1]);
    const before = await world.store.find({ kinds: ['run'] }, { limit: 100 });
    const unknown = [...followers, draft('report', [stored(999_999)]), ...followers];
    expect(await codeOf(world.jobs.createFollowers(unknown, 'tester'))).toBe('unknown.job');
    expect(await world.store.find({ kinds: ['run'] }, { limit: 100 })).toEqual(before);
  });

  test('of followers with one unique key in a call the first is created, and a taken key creates none', async ({ world }) => {
    const first = await world.create();
    const unique = (key: string): FlowDraft =>
      ({ ...draft('report', [stored(first.id)]), draft: { type: 'report', unique: { key } } });
    const [taken] = await world.jobs.createFollowers([unique('a')], 'tester');
    const created = await world.jobs.createFollowers(
      [unique('b'), unique('a'), draft('report', [stored(first.id)]), unique('b')], 'tester');
    expect(created.map(({ outcome }) => outcome)).toEqual(['created', 'existing', 'created', 'existing']);
    expect([created[1]!.id, created[3]!.id]).toEqual([taken!.id, created[0]!.id]);
  });

  test('a malformed draft is refused although its key is taken', async ({ world }) => {
    const holder = await world.create({ unique: { key: 'a' } });
    const malformed = { ...draft('report'), draft: { type: 'report', priority: 0.5, unique: { key: 'a' } } };
    const following = draft('report', [stored(holder.id)]);
    expect(await codeOf(world.jobs.createFollowers([following, malformed], 'tester'))).toBe('malformed.number');
    expect(await world.everyJob()).toEqual([holder]);
  });

  test('a malformed draft is refused before a job that has the key of another draft is updated', async ({ world }) => {
    const holder = await world.create({ unique: { key: 'a' } });
    const unique = { key: 'a', onTaken: 'update' } as const;
    const updating = { ...draft('report'), draft: { type: 'report', priority: 7, unique } };
    const malformed = { ...draft('report', [stored(holder.id)]), draft: { type: '' } };
    expect(await codeOf(world.jobs.createFollowers([updating, malformed], 'tester'))).toBe('malformed.name');
    expect(await world.everyJob()).toEqual([holder]);
    const [updated] = await world.jobs.createFollowers([updating], 'tester');
    expect(updated).toMatchObject({ outcome: 'updated', job: { priority: 7 } });
  });

  test('followers find the job that takes their key between the look and the commit', async ({ world }) => {
    const first = await world.create();
    const unique = { ...draft('report', [stored(first.id)]), draft: { type: 'report', unique: { key: 'report' } } };
    const taken: Created[] = [];
    const racing = new Jobs(beforeCommit(world.store, async () => {
      if (taken.length === 0) taken.push(await createFollower(world.jobs, unique, 'tester'));
    }));
    const [created, other] = await racing.createFollowers([unique, draft('other', [stored(first.id)])], 'tester');
    expect([created!.outcome, created!.id, other!.outcome]).toEqual(['existing', taken[0]!.id, 'created']);
  });
});

describe('a large flow', () => {
  const test = testOn(stores.find(({ name }) => name === 'memory')!);

  test('a retry reads the runs, their edges and their followers in pages, and counts all that it reopens', async ({ world }) => {
    const parts = Array.from({ length: 1100 }, () => draft('b', [nth(0)]));
    const last = draft('c', parts.map((_, index) => nth(index + 1)));
    const [first] = await world.jobs.createFlow([draft('a'), ...parts, last], 'tester') as [Job];
    await fail(world, first);
    let calls = 0;
    const counted = new Jobs(watched(world.store, () => (calls += 1)));
    expect(await counted.retryFlow(first.id, tester)).toHaveLength(1102);
    expect(calls).toBeLessThan(60);
  });

  test('a crash is made good for more followers than a page has, in one turn', async ({ world }) => {
    const followers = Array.from({ length: 1100 }, () => draft('b', [nth(0)]));
    const [first] = await world.jobs.createFlow([draft('a'), ...followers], 'tester') as [Job];
    await applyEach(world.store, [{ job: first.id, command: { do: 'stop', code: 'admin' } }], tester);
    await world.store.closeEdges([first.id]);
    expect(await forgottenFollowers(world.store, tester)()).toBe(1100);
  });
});
