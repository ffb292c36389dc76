// Creating jobs: one, many, with unique keys, in the caller's own transaction, as children.
import { describe, expect } from 'vitest';
import { createJobs } from '../../src/jobs/create.ts';
import { Refusal } from '../../src/refusal.ts';
import type { Store } from '../../src/store/store.ts';
import { stores, storesOfRun } from '../support/stores.ts';
import { codeOf, minute, refusalOf, replacing, startOfTime, tester, testOn } from './world.ts';

describe.each(storesOfRun)('creating jobs on $name', (kind) => {
  const test = testOn(kind);

  test('a created job is pending, due at once, and all of it can be read again', async ({ world }) => {
    const draft = {
      type: 'mail',
      def: 'daily mail',
      key: 'no 1',
      input: { to: ['a', 'b'], urgent: true },
      priority: 5,
      tags: { tenant: 'acme', empty: '' },
      policy: { attemptsMax: 2, timeoutMs: 1000, onTaskFailure: { tolerate: 1 } } as const,
      tick: { def: 7, schedule: 0, nominal: 5, isAwaited: false },
    };
    const { id, outcome, job } = await world.jobs.create(draft, 'producer');
    expect(outcome).toBe('created');
    expect(await world.get(id)).toEqual(job);
    expect(job).toMatchObject({
      id,
      kind: 'run',
      state: 'pending',
      type: 'mail',
      def: 'daily mail',
      key: 'no 1',
      parent: null,
      priority: 5,
      created: startOfTime,
      due: startOfTime,
      version: 1,
      fence: 0,
      attempt: 0,
      generation: 1,
      input: '{"to":["a","b"],"urgent":true}',
      tags: { tenant: 'acme', empty: '' },
      policy: draft.policy,
      tick: draft.tick,
    });
    expect(await world.jobs.history(id)).toEqual([
      { n: 1, at: startOfTime, by: 'producer', kind: 'created', due: startOfTime, priority: 5 },
    ]);
  });

  test('a draft that says nothing but its type gives a plain job', async ({ world }) => {
    const job = await world.create({ type: 'plain' });
    expect(job).toMatchObject({
      input: 'null',
      tags: null,
      policy: {},
      unique: null,
      gate: null,
      priority: 0,
      phase: 'run',
    });
    expect(await world.get(job)).toEqual(job);
  });

  test('a policy and tags are copied: what the caller does with its own later changes no job', async ({ world }) => {
    const policy = { attemptsMax: 2, onTaskFailure: { tolerate: 1 } };
    const tags: Record<string, string> = { a: 'b' };
    const job = await world.create({ policy, tags });
    policy.attemptsMax = 99;
    policy.onTaskFailure.tolerate = 99;
    tags['a'] = 'changed';
    expect(await world.get(job)).toMatchObject({
      policy: { attemptsMax: 2, onTaskFailure: { tolerate: 1 } },
      tags: { a: 'b' },
    });
  });

  test('a batch is created in its order, with rising ids', async ({ world }) => {
    const drafts = Array.from({ length: 250 }, (_, index) => ({ type: 'plain', key: `no ${index}` }));
    const created = await world.jobs.createMany(drafts, 'producer');
    expect(created.map(({ job }) => job!.key)).toEqual(drafts.map(({ key }) => key));
    const ids = created.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(250);
    expect(await world.count()).toBe(250);
  });

  test('an empty batch creates nothing', async ({ world }) => {
    expect(await world.jobs.createMany([], 'producer')).toEqual([]);
    expect(await world.count()).toBe(0);
  });

  test('one malformed draft refuses the whole batch', async ({ world }) => {
    expect(await codeOf(world.jobs.createMany([{ type: 'good' }, { type: '' }, { type: 'good' }], 'producer'))).toBe(
      'malformed.name',
    );
    expect(await world.count()).toBe(0);
  });

  test('two producers on one store never get the same id', async ({ world }) => {
    const other = await world.again();
    const batches = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? world.jobs : other).createMany(Array(index + 1).fill({ type: 'plain' }), 'producer'),
      ),
    );
    const ids = batches.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(210);
    expect(await world.count()).toBe(210);
  });
});

describe.each(storesOfRun)('unique keys on $name', (kind) => {
  const test = testOn(kind);
  const unique = { key: 'invoice 7' };

  test('a key that no job has gives a new job', async ({ world }) => {
    expect((await world.ask({ unique })).outcome).toBe('created');
  });

  test('S11: a key that a live job has gives that job, which stays as it is', async ({ world }) => {
    const first = await world.create({ unique, input: 1 });
    const second = await world.ask({ unique, input: 2 });
    expect(second).toEqual({ id: first.id, outcome: 'existing', job: first });
    expect(await world.count()).toBe(1);
  });

  test('a live job takes on what is new when the asker says so', async ({ world }) => {
    const first = await world.create({ unique, input: 1, priority: 1, tags: { a: 'b' } });
    const second = await world.ask({
      unique: { ...unique, onTaken: 'update' },
      input: 2,
      priority: 7,
      due: startOfTime + minute,
    });
    expect(second).toMatchObject({
      id: first.id,
      outcome: 'updated',
      job: { input: '2', priority: 7, due: startOfTime + minute },
    });
    expect(await world.get(first)).toEqual(second.job);
    expect(await world.events(first)).toEqual(['created', 'edited']);
  });

  test('what an update does not say stays as it was', async ({ world }) => {
    const first = await world.create({
      unique,
      input: 1,
      tags: { a: 'b' },
      policy: { attemptsMax: 9 },
      due: startOfTime + 5,
      priority: 3,
    });
    const { job } = await world.ask({ unique: { ...unique, onTaken: 'update' } });
    expect(job).toMatchObject({
      input: '1',
      tags: { a: 'b' },
      policy: { attemptsMax: 9 },
      due: startOfTime + 5,
      priority: 3,
    });
    expect(job!.id).toBe(first.id);
  });

  test('a running job is not updated: the new input would never run', async ({ world }) => {
    const running = await world.running({ unique, input: 1 });
    const { outcome } = await world.ask({ unique: { ...unique, onTaken: 'update' }, input: 2 });
    expect(outcome).toBe('existing');
    expect(await world.jobs.succeed(running.id, running.fence, tester)).toMatchObject({
      fate: 'succeeded',
      input: '1',
    });
  });

  test('S11: a key is free when its job has ended', async ({ world }) => {
    const first = await world.ended({ unique });
    const second = await world.create({ unique });
    expect(second.id).not.toBe(first.id);
  });

  test.for(['succeed', 'fail', 'cancel', 'stop'] as const)('a key is free after %s', async (how, { world }) => {
    const { id, fence } = await world.running({ unique, policy: { attemptsMax: 1 } });
    if (how === 'succeed') await world.jobs.succeed(id, fence, tester);
    if (how === 'fail') await world.jobs.fail(id, fence, { code: 'unknown', message: 'no' }, tester);
    if (how === 'stop') await world.jobs.stop(id, tester);
    if (how === 'cancel') {
      await world.jobs.cancel(id, tester);
      expect((await world.ask({ unique })).outcome).toBe('existing');
      await world.jobs.release(id, fence, tester);
    }
    expect((await world.ask({ unique })).outcome).toBe('created');
  });

  test('S10: a key with a window stays taken beyond the end of its job, with the same answer for every repeat', async ({
    world,
  }) => {
    const windowed = { ...unique, forMs: 10 * minute };
    const first = await world.ended({ unique: windowed });
    for (let at = 1; at < 10; at += 1) {
      await world.clock.advance(minute);
      const repeat = await world.ask({ unique: windowed });
      expect(repeat).toEqual({ id: first.id, outcome: 'existing', job: first });
    }
    await world.clock.advance(minute);
    expect((await world.ask({ unique: windowed })).outcome).toBe('created');
    expect(await world.count()).toBe(2);
  });

  test('S10: a key with a period stays taken when its job is deleted; only its id is returned then', async ({
    world,
  }) => {
    const first = await world.ended({ unique: { ...unique, forMs: minute } });
    await world.jobs.delete(first.id);
    expect(await world.ask({ unique })).toEqual({ id: first.id, outcome: 'existing', job: null });
    expect(await world.ask({ unique: { ...unique, onTaken: 'update' } })).toEqual({
      id: first.id,
      outcome: 'existing',
      job: null,
    });
    await world.clock.advance(minute);
    expect((await world.ask({ unique })).outcome).toBe('created');
  });

  test('an ended job within its window is not updated', async ({ world }) => {
    const first = await world.ended({ unique: { ...unique, forMs: minute }, input: 1 });
    const repeat = await world.ask({ unique: { ...unique, onTaken: 'update' }, input: 2 });
    expect(repeat).toEqual({ id: first.id, outcome: 'existing', job: first });
  });

  test('two drafts with one key in one batch give one job', async ({ world }) => {
    const [first, second, third] = await world.jobs.createMany(
      [
        { type: 'a', unique, input: 1 },
        { type: 'b', unique, input: 2 },
        { type: 'c', unique: { ...unique, onTaken: 'update' }, input: 3 },
      ],
      'producer',
    );
    expect([first!.outcome, second!.outcome, third!.outcome]).toEqual(['created', 'existing', 'updated']);
    expect(new Set([first!.id, second!.id, third!.id]).size).toBe(1);
    expect(await world.get(first!.id)).toMatchObject({ type: 'a', input: '3' });
  });

  test('keys that differ only in case, or in how a letter is composed, are different keys', async ({ world }) => {
    for (const key of ['straße', 'STRASSE', 'é', 'e\u0301', ' é'])
      expect((await world.ask({ unique: { key } })).outcome).toBe('created');
  });

  test('of many who ask for one key at the same moment one creates and all get its id', async ({ world }) => {
    const other = await world.again();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? world.jobs : other).create({ type: 'plain', unique }, `producer ${index}`),
      ),
    );
    expect(answers.filter(({ outcome }) => outcome === 'created')).toHaveLength(1);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(await world.count()).toBe(1);
  });

  test('a draft whose key was taken and is free again is created, and waits to be claimed', async ({ world }) => {
    const first = await world.create({ unique });
    const jobsByKey: Store['jobsByKey'] = async (keys) => {
      await world.jobs.cancel(first.id, tester);
      return world.store.jobsByKey(keys);
    };
    const store = replacing(world.store, { jobsByKey });
    const [created] = await createJobs({ store, ids: world.jobs.ids }, [{ type: 'plain', unique }], 'producer', { name: 'ann', versions: [] });
    expect(created).toMatchObject({ outcome: 'created', job: { state: 'pending' } });
  });

  test('an ended job whose key another has now cannot be opened again, and says who has it', async ({ world }) => {
    const first = await world.ended({ unique });
    const second = await world.create({ unique });
    for (const asked of [
      () => world.jobs.retry(first.id, tester),
      () => world.jobs.requeue(first.id, startOfTime, tester),
    ]) {
      const refusal = await refusalOf(asked());
      expect(refusal.code).toBe('taken.key');
      expect(refusal.detail).toMatchObject({ id: second.id, key: unique.key });
    }
    await world.jobs.stop(second.id, tester);
    expect((await world.jobs.retry(first.id, tester)).state).toBe('pending');
  });
});

describe.each(stores)('in the caller\'s own transaction on $name', (kind) => {
  const test = testOn(kind);
  const draft = { type: 'mail', input: { to: 'someone' } };

  test('S9: the job exists once the caller commits, and not before', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const tx = await world.begin();
    await tx.write('mine');
    const [created] = await world.jobs.createWithin(tx.transaction, [draft], 'producer');
    expect(created!.outcome).toBe('created');
    expect(await world.jobs.get(created!.id)).toBeNull();
    expect((await world.jobs.find({})).jobs).toEqual([]);
    expect((await world.jobs.events(null)).events).toEqual([]);
    await tx.commit();
    expect(await world.get(created!.id)).toEqual(created!.job);
    expect(await world.claimIds()).toEqual([created!.id]);
  });

  test('S9: what is rolled back never runs', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const tx = await world.begin();
    await tx.write('mine');
    const [created] = await world.jobs.createWithin(tx.transaction, [{ ...draft, unique: { key: 'k' } }], 'producer');
    await tx.rollback();
    expect(await world.jobs.get(created!.id)).toBeNull();
    expect(await world.claimIds()).toEqual([]);
    expect(await world.count()).toBe(0);
    expect((await world.jobs.events(null)).events).toEqual([]);
    expect((await world.ask({ unique: { key: 'k' } })).outcome).toBe('created');
  });

  test('an id that was rolled back is never reused', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const before = await world.create();
    const undone = await world.begin();
    await world.jobs.createWithin(undone.transaction, [draft, draft], 'producer');
    await undone.rollback();
    const done = await world.begin();
    const created = await world.jobs.createWithin(done.transaction, [draft, draft, draft], 'producer');
    await done.commit();
    const after = await world.jobs.createMany([draft, draft], 'producer');
    const ids = [before.id, ...created.map(({ id }) => id), ...after.map(({ id }) => id)];
    expect(new Set(ids).size).toBe(6);
    expect(await world.count()).toBe(6);
  });

  test('a key that a committed job has gives that job', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const first = await world.create({ unique: { key: 'k' } });
    const tx = await world.begin();
    const [created] = await world.jobs.createWithin(tx.transaction, [{ ...draft, unique: { key: 'k' } }], 'producer');
    await tx.commit();
    expect(created).toEqual({ id: first.id, outcome: 'existing', job: first });
  });

  test('a key taken earlier in the same transaction gives that job', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const tx = await world.begin();
    const keyed = { ...draft, unique: { key: 'k' } };
    const created = await world.jobs.createWithin(tx.transaction, [keyed, keyed], 'producer');
    const again = await world.jobs.createWithin(tx.transaction, [keyed], 'producer');
    await tx.commit();
    expect([...created, ...again].map(({ outcome }) => outcome)).toEqual(['created', 'existing', 'existing']);
    expect(await world.count()).toBe(1);
  });

  test('an update of the job that has the key shares the fate of the transaction', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const first = await world.create({ unique: { key: 'k' }, input: 1 });
    const update = { ...draft, input: 2, unique: { key: 'k', onTaken: 'update' } } as const;
    const undone = await world.begin();
    await undone.write('mine');
    expect((await world.jobs.createWithin(undone.transaction, [update], 'producer'))[0]!.outcome).toBe('updated');
    await undone.rollback();
    expect(await world.get(first)).toEqual(first);
    const done = await world.begin();
    await world.jobs.createWithin(done.transaction, [update], 'producer');
    await done.commit();
    expect(await world.get(first)).toMatchObject({ input: '2', version: 2 });
  });

  test('a malformed draft is refused and leaves the transaction usable', async ({ world, skip }) => {
    if (!world.takesTransactions) return skip('the memory store takes part in no transaction');
    const tx = await world.begin();
    await tx.write('mine');
    expect(await codeOf(world.jobs.createWithin(tx.transaction, [{ type: '' }], 'producer'))).toBe('malformed.name');
    const [created] = await world.jobs.createWithin(tx.transaction, [draft], 'producer');
    await tx.commit();
    expect(await world.standing(created!.id)).toBe('pending');
  });

  test.for([undefined, null, {}, 'BEGIN', 5])('%j is no transaction', async (transaction, { world }) => {
    const refusal = await refusalOf(world.jobs.createWithin(transaction, [draft], 'producer'));
    expect(refusal.code).toBe('malformed.store');
    expect(await world.count()).toBe(0);
  });
});

describe.each(storesOfRun)('children on $name', (kind) => {
  const test = testOn(kind);
  const child = { type: 'child' };

  test('a child of a running parent waits for it, and is not handed out', async ({ world }) => {
    const parent = await world.running();
    const [made] = await world.jobs.createChildren(parent.id, [child], 'worker', parent.fence);
    expect(made).toMatchObject({ state: 'held', hold: 'parent', parent: parent.id });
    expect(await world.get(made!)).toEqual(made);
    expect(await world.claimIds()).toEqual([]);
    expect(await world.events(parent)).toEqual(['created', 'claimed', 'adopted']);
    await world.jobs.stop(parent.id, tester);
  });

  test('a child of a parent that waits for children can be handed out at once', async ({ world }) => {
    const { run, tasks } = await world.family(1);
    const [made] = await world.jobs.createChildren(run.id, [child], 'worker');
    expect(made).toMatchObject({ state: 'pending', parent: run.id });
    expect(await world.claimIds()).toEqual([tasks[0]!.id, made!.id]);
  });

  test('S4: who lost the parent\'s lease cannot give it children', async ({ world }) => {
    const parent = await world.running();
    await world.clock.advance(minute);
    await world.repair();
    const again = await world.claimOne(parent);
    const refusal = await refusalOf(world.jobs.createChildren(parent.id, [child], 'worker', parent.fence));
    expect(refusal.code).toBe('lost.lease');
    expect(await world.count()).toBe(1);
    expect(await world.get(again)).toEqual(again);
  });

  test.for(['succeeded', 'failed', 'cancelled'] as const)(
    'a parent that has %s can have no more children',
    async (fate, { world }) => {
      const { id, fence } = await world.running({ policy: { attemptsMax: 1 } });
      if (fate === 'succeeded') await world.jobs.succeed(id, fence, tester);
      if (fate === 'failed') await world.jobs.fail(id, fence, { code: 'unknown', message: 'no' }, tester);
      if (fate === 'cancelled') await world.jobs.stop(id, tester);
      expect(await codeOf(world.jobs.createChildren(id, [child], 'worker'))).toBe('wrong.state');
      expect(await world.count()).toBe(1);
    },
  );

  test('a pending or paused parent can have no children yet', async ({ world }) => {
    const { id } = await world.create();
    expect(await codeOf(world.jobs.createChildren(id, [child], 'worker'))).toBe('wrong.state');
    await world.jobs.pause(id, tester);
    expect(await codeOf(world.jobs.createChildren(id, [child], 'worker'))).toBe('wrong.state');
  });

  test('a parent that does not exist is refused', async ({ world }) => {
    expect(await codeOf(world.jobs.createChildren(4711, [child], 'worker'))).toBe('unknown.parent');
  });

  test('grandchildren are refused', async ({ world }) => {
    await world.family(1);
    const [task] = await world.claim();
    expect(await codeOf(world.jobs.createChildren(task!.id, [child], 'worker', task!.fence))).toBe('grandchildren');
    expect(await world.events(task!)).toEqual(['created', 'claimed']);
  });

  test('children are created all or none: a taken key refuses the lot', async ({ world }) => {
    const { run } = await world.family(1);
    const other = await world.create({ unique: { key: 'k' } });
    const before = await world.get(run);
    const refusal = await refusalOf(
      world.jobs.createChildren(run.id, [child, { ...child, unique: { key: 'k' } }], 'worker'),
    );
    expect(refusal).toMatchObject({ code: 'taken.key', detail: { id: other.id } });
    expect(await world.tasksOf(run)).toHaveLength(1);
    expect(await world.get(run)).toEqual(before);
  });

  test('two children with one key refuse the lot', async ({ world }) => {
    const { run } = await world.family(1);
    const keyed = { ...child, unique: { key: 'k' } };
    expect(await codeOf(world.jobs.createChildren(run.id, [keyed, keyed], 'worker'))).toBe('taken.key');
    expect(await world.tasksOf(run)).toHaveLength(1);
  });

  test('a refusal is a value with a code and a sentence', async ({ world }) => {
    const refusal = await refusalOf(world.jobs.createChildren(4711, [child], 'worker'));
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal.message).toBe('there is no job 4711 to be the parent');
  });
});
