/** Named limits: rates and numbers of running jobs that hold across types and instances. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { gateText } from '../model/gate.ts';
import type { Job, RunningJob } from '../model/job.ts';
import type { LimitUse, LimitValues, Rate } from '../model/limit.ts';
import type { LimitContent } from '../model/limit-record.ts';
import { record } from '../model/machine.ts';
import { recordId } from '../store/record-id.ts';
import { same, sameMembers } from './same.ts';
import type { JobSpec, Topic, World } from './world.ts';

const use = (name: string, more: Partial<LimitUse> = {}): LimitUse => ({ name, key: null, cost: 1, ...more });

function using(uses: readonly LimitUse[], more: JobSpec = {}): JobSpec {
  const type = more.type ?? 'limited';
  return { type, gate: gateText({ type, def: null, key: null, leaderOnly: false, uses }), ...more };
}

const many = (count: number, spec: JobSpec): JobSpec[] => Array.from({ length: count }, () => spec);

/** Six starts a minute, two at once: a job every 10 s. */
const slow: Rate = { count: 6, per: 60_000, burst: 2 };

/** Stores a limit as `jobs/limits.ts` does. */
async function declare(world: World, name: string, values: Partial<LimitValues>): Promise<Job> {
  const code = { rate: null, concurrency: null, ...values };
  const content: LimitContent = { name, code, keyed: false, override: null, by: null, why: null };
  return world.create({
    id: recordId('limit', name), kind: 'limit', type: 'stint.limit', key: name, hold: 'pause', input: JSON.stringify(content),
  });
}

async function override(world: World, limit: Job, values: Partial<LimitValues> | null): Promise<void> {
  const input = JSON.stringify({ ...(JSON.parse(limit.input) as LimitContent), override: values });
  await world.mustWrite([record(limit, [{ kind: 'edited', edit: { input } }], { by: 'ada', now: world.now() })]);
}

async function pauseFrom(world: World, limit: Job): Promise<void> {
  const paused = { by: 'ada', why: null, since: world.now(), until: null };
  const input = JSON.stringify({ ...(JSON.parse(limit.input) as LimitContent), paused });
  await world.mustWrite([record(limit, [{ kind: 'edited', edit: { input } }], { by: 'ada', now: world.now() })]);
}

const end = (world: World, job: RunningJob): Promise<Job> => world.apply(job, { do: 'succeed', fence: job.fence });

const request = { kinds: ['run'], names: { glob: '*' } } as const;

export const limits: Topic = {
  name: 'limits',
  examples: {
    'a limit that is not stored limits nothing': async (world) => {
      await world.createAll(many(3, using([use('none')])));
      equal((await world.claim()).length, 3);
    },

    'a rate lets the burst start at once, and then one job per interval': async (world) => {
      await declare(world, 'api', { rate: slow });
      await world.createAll(many(5, using([use('api')])));
      equal((await world.claim()).length, 2);
      equal((await world.claim()).length, 0);
      await world.advance(9_999);
      equal((await world.claim()).length, 0);
      await world.advance(1);
      equal((await world.claim()).length, 1);
      await world.advance(60_000);
      equal((await world.claim()).length, 2, 'at most the burst, however long it was quiet');
    },

    'jobs that ended count toward the rate, and their places are not free again': async (world) => {
      await declare(world, 'api', { rate: slow });
      await world.createAll(many(4, using([use('api')])));
      for (const job of await world.claim()) await end(world, job);
      deepEqual(await world.claim(), []);
    },

    'a job takes its cost from the rate': async (world) => {
      await declare(world, 'tokens', { rate: { count: 60, per: 60_000, burst: 10 } });
      const jobs = await world.createAll([4, 5, 3, 1].map((cost) => using([use('tokens', { cost })])));
      deepEqual(await world.claimIds(), [0, 1].map((index) => jobs[index]!.id));
      await world.advance(1_999);
      deepEqual(await world.claimIds(), []);
      await world.advance(1);
      deepEqual(await world.claimIds(), [jobs[2]!.id]);
      await world.advance(999);
      deepEqual(await world.claimIds(), []);
      await world.advance(1);
      deepEqual(await world.claimIds(), [jobs[3]!.id]);
    },

    'cheap jobs do not overtake a costly one that waits for the rate': async (world) => {
      await declare(world, 'api', { rate: { count: 60, per: 60_000, burst: 4 } });
      const spec = (cost: number): JobSpec => using([use('api', { cost })]);
      const [first, costly, ...cheap] = await world.createAll([spec(2), spec(4), ...many(300, spec(1))]) as [Job, Job, ...Job[]];
      deepEqual(await world.claimIds({ ...request, limit: 3 }), [first.id]);
      equal(await world.store.nextDue(request, world.now()), world.now() + 2_000, 'nothing can start before');
      await world.advance(2_000);
      deepEqual(await world.claimIds({ ...request, limit: 3 }), [costly.id]);
      await world.advance(1_000);
      deepEqual(await world.claimIds({ ...request, limit: 3 }), [cheap[0]!.id]);
    },

    'jobs at gates of older versions, which contain the cost, take it from the same rate': async (world) => {
      await declare(world, 'api', { rate: { count: 60, per: 60_000, burst: 4 } });
      const gate = `any/limited/////${encodeURIComponent('[["api",null,3]]')}`;
      const [older, later] = await world.createAll([{ type: 'limited', gate }, using([use('api', { cost: 3 })])]) as [Job, Job];
      deepEqual(await world.claimIds(), [older.id]);
      await world.advance(2_000);
      deepEqual(await world.claimIds(), [later.id]);
    },

    'a job whose cost is above the burst starts when nothing of the rate is in use': async (world) => {
      await declare(world, 'api', { rate: slow });
      const [first, costly] = await world.createAll([using([use('api')]), using([use('api', { cost: 4 })])]) as [Job, Job];
      deepEqual(await world.claimIds(), [first.id]);
      await world.advance(9_999);
      deepEqual(await world.claimIds(), []);
      await world.advance(1);
      deepEqual(await world.claimIds(), [costly.id]);
    },

    'types share the concurrency of a limit': async (world) => {
      await declare(world, 'db', { concurrency: 3 });
      await world.createAll([...many(2, using([use('db')])), ...many(4, using([use('db')], { type: 'other' }))]);
      const taken = await world.claim({ limit: 4 });
      equal(taken.length, 3);
      deepEqual(await world.claim(), []);
      await end(world, taken[0]!);
      equal((await world.claim({ names: { exact: ['other'] } })).length, 1);
      deepEqual(await world.claim(), []);
    },

    'each key of a limit has its own rate and concurrency': async (world) => {
      await declare(world, 'tenant', { rate: slow, concurrency: 1 });
      const [a, b] = ['a', 'b'].map((key) => using([use('tenant', { key })])) as [JobSpec, JobSpec];
      const jobs = await world.createAll([a, a, a, b, b]);
      const taken = await world.claim();
      sameMembers(taken.map(({ id }) => id), [jobs[0]!.id, jobs[3]!.id]);
      await end(world, taken.find(({ id }) => id === jobs[0]!.id)!);
      const [second] = await world.claim() as [RunningJob];
      equal(second.id, jobs[1]!.id, 'the key has a place again, and its burst allows another start');
      await end(world, second);
      deepEqual(await world.claim(), []);
    },

    'a job must pass all limits that it uses, and takes nothing if one refuses it': async (world) => {
      await declare(world, 'api', { rate: slow });
      await declare(world, 'db', { concurrency: 1 });
      await world.createAll(many(3, using([use('api'), use('db')])));
      const [job] = await world.claim() as [RunningJob];
      deepEqual(await world.claim(), []);
      equal((await world.store.limitUse('api', { keys: [null] }))[0]!.opensAt <= world.now(), true);
      await end(world, job);
      equal((await world.claim()).length, 1);
    },

    'limits of the claiming instance apply beside named ones': async (world) => {
      await declare(world, 'api', { rate: { ...slow, burst: 5 } });
      await world.createAll(many(4, using([use('api')])));
      const limits = { types: new Map([['limited', 1]]), defs: new Map<string, number>(), keys: new Map<string, number>() };
      equal((await world.claim({ limits })).length, 1);
      equal((await world.claim()).length, 3);
    },

    'a closed limit admits no job until the given time, and an earlier time does not open it': async (world) => {
      await world.createAll(many(2, using([use('api')])));
      await world.store.closeLimit('api', null, world.now() + 5_000);
      await world.store.closeLimit('api', null, world.now() + 1_000);
      deepEqual(await world.claim(), []);
      equal((await world.store.limitUse('api', { keys: [null] }))[0]!.closedUntil, world.now() + 5_000);
      await world.advance(5_000);
      equal((await world.claim()).length, 2);
      equal((await world.store.limitUse('api', { keys: [null] }))[0]!.closedUntil, null);
    },

    'a limit with keys can be closed for one key or for all': async (world) => {
      const jobs = await world.createAll(['a', 'b', 'b'].map((key) => using([use('tenant', { key })])));
      await world.store.closeLimit('tenant', 'a', world.now() + 9_000);
      deepEqual(await world.claimIds({ limit: 1 }), [jobs[1]!.id]);
      await world.store.closeLimit('tenant', null, world.now() + 5_000);
      deepEqual(await world.claimIds(), []);
      await world.advance(5_000);
      deepEqual(await world.claimIds(), [jobs[2]!.id]);
      await world.advance(4_000);
      deepEqual(await world.claimIds(), [jobs[0]!.id]);
    },

    'a reopened limit admits its burst at once, under the given key only': async (world) => {
      await declare(world, 'tenant', { rate: slow });
      await world.createAll(['a', 'a', 'b', 'b'].map((key) => using([use('tenant', { key })])));
      for (const key of ['a', 'b']) {
        await world.store.spendLimit('tenant', key, 1_000);
        await world.store.closeLimit('tenant', key, world.now() + 5_000);
      }
      await world.store.reopenLimit('tenant', 'a');
      equal((await world.store.limitUse('tenant', { keys: ['a'] }))[0]!.closedUntil, null);
      equal((await world.claim()).length, 2);
      await world.advance(5_000);
      deepEqual(await world.claim(), []);
      await world.store.closeLimit('tenant', null, world.now() + 5_000);
      await world.store.reopenLimit('tenant', null);
      equal((await world.claim()).length, 2, 'all keys are open again');
    },

    'what is spent beside a claim is missing from the rate, even if nothing was left': async (world) => {
      await declare(world, 'api', { rate: slow });
      await world.createAll(many(3, using([use('api')])));
      await world.store.spendLimit('none', null, 5);
      await world.store.spendLimit('api', null, 2.5);
      deepEqual(await world.claim(), []);
      await world.advance(14_999);
      deepEqual(await world.claim(), []);
      await world.advance(1);
      equal((await world.claim()).length, 1);
    },

    'an override takes effect with the next claim, and so does its removal': async (world) => {
      const other = await world.again();
      const limit = await declare(world, 'api', { rate: { count: 1, per: 3_600_000, burst: 1 } });
      await world.createAll(many(9, using([use('api')])));
      equal((await world.claim({}, other)).length, 1);
      equal((await world.claim({}, other)).length, 0);
      await override(world, limit, { rate: { count: 3_600, per: 3_600_000, burst: 3 } });
      equal((await world.claim({}, other)).length, 2, 'the job that started counts, at the new rate');
      const [stored] = await world.store.load([limit.id]) as [Job];
      await world.advance(2_000);
      await override(world, stored, null);
      deepEqual(await world.claim({}, other), [], 'a cost of 1 is in use, which is all at the old rate');
      await override(world, (await world.load(limit.id))!, { rate: null });
      equal((await world.claim({}, other)).length, 6);
    },

    'after a change of the rate, jobs wait as long as under the new rate': async (world) => {
      const limit = await declare(world, 'api', { rate: { count: 1, per: 3_600_000, burst: 1 } });
      await world.createAll(many(3, using([use('api')])));
      await world.claim(request);
      await override(world, limit, { rate: { count: 60, per: 60_000, burst: 1 } });
      deepEqual(await world.claim(request), []);
      equal(await world.store.nextDue(request, world.now()), world.now() + 1_000);
      await world.advance(1_000);
      equal((await world.claim(request)).length, 1);
    },

    'a crash after the claim leaves the rate spent, and the repair frees the concurrency': async (world) => {
      await declare(world, 'api', { rate: slow, concurrency: 2 });
      await world.createAll(many(4, using([use('api')])));
      const taken = await world.claim({ leaseMs: 1_000 });
      equal(taken.length, 2);
      await world.advance(1_000);
      for (const job of taken) await world.apply(job, { do: 'lapse' });
      deepEqual(await world.claim(), [], 'the rate is spent');
      await world.advance(19_000);
      equal((await world.claim()).length, 2, 'no place is lost');
    },

    'a job that ends instead of starting takes nothing': async (world) => {
      await declare(world, 'api', { rate: { ...slow, burst: 1 } });
      const late = await world.create(using([use('api')], { policy: { startBy: world.now() - 1 } }));
      const job = await world.create(using([use('api')], { priority: -1 }));
      deepEqual(await world.claimIds({ limit: 1 }), []);
      equal((await world.load(late.id))!.state, 'ended');
      deepEqual(await world.claimIds({ limit: 1 }), [job.id]);
    },

    'a decision that takes no candidate takes nothing of a rate': async (world) => {
      await declare(world, 'api', { rate: slow });
      await world.createAll(many(3, using([use('api')])));
      equal((await world.offered({ limit: 2 })).length, 2);
      equal((await world.claim()).length, 2);
    },

    'a run that gathers its tasks does not pass its limits again': async (world) => {
      await declare(world, 'api', { rate: { ...slow, burst: 1 } });
      const { parent } = await world.createFamily(0, using([use('api')]));
      deepEqual(await world.claimIds(), [parent.id]);
    },

    'jobs of a used up rate do not delay other jobs, however many wait': async (world) => {
      await declare(world, 'tenant', { rate: { ...slow, burst: 1 } });
      await world.createAll(many(500, using([use('tenant', { key: 'deep' })], { priority: 9 })));
      await world.createAll([using([use('tenant', { key: 'other' })]), { type: 'free' }]);
      equal((await world.claim({ limit: 1 })).length, 1);
      equal((await world.claim({ limit: 5 })).length, 2);
      deepEqual(await world.claim({ limit: 5 }), []);
    },

    'a costly job that is not due yet does not hide a cheaper due job at its gate': async (world) => {
      await declare(world, 'tenant', { rate: { count: 60, per: 60_000, burst: 4 } });
      await world.createAll(many(300, using([use('tenant', { key: 'deep', cost: 4 })], { priority: 9 })));
      await world.createAll(['costly', 'scheduled'].map((key) =>
        using([use('tenant', { key, cost: 4 })], { priority: 9, due: world.now() + 60_000 })));
      const cheap = await world.create(using([use('tenant', { key: 'costly' })]));
      await world.store.spendLimit('tenant', 'costly', 2);
      equal((await world.claim({ limit: 1 })).length, 1);
      deepEqual(await world.claimIds({ limit: 5 }), [cheap.id]);
    },

    'no job of a paused limit is claimed when the wait for claims of other connections has ended': async (world) => {
      const limit = await declare(world, 'api', { concurrency: 150 });
      await world.createAll(Array.from({ length: 200 }, (_, index) => using([use('api')], { priority: index % 3 })));
      const others = await Promise.all([world.again(), world.again(), world.again()]);
      let isAnswered = false;
      let late = 0;
      const claimSome = async (index: number): Promise<void> => {
        for (let tries = 0; tries < 20; tries++) {
          const isAfter = isAnswered;
          const claimed = await world.claimIds({ limit: 2 }, others[index]);
          if (isAfter) late += claimed.length;
        }
      };
      const claiming = others.map((_, index) => claimSome(index));
      await pauseFrom(world, limit);
      await world.store.awaitClaims();
      isAnswered = true;
      const running = await world.store.count({ kinds: ['run'], standings: ['running'] });
      await Promise.all(claiming);
      equal(late, 0);
      same(await world.store.count({ kinds: ['run'], standings: ['running'] }), running);
    },

    'the next due time is when the rate or the closing lets the first job start': async (world) => {
      await declare(world, 'api', { rate: slow });
      await world.createAll(many(3, using([use('api')])));
      await world.claim(request);
      deepEqual(await world.claim(request), []);
      equal(await world.store.nextDue(request, world.now()), world.now() + 10_000);
      await world.store.closeLimit('api', null, world.now() + 12_000);
      await world.claim(request);
      equal(await world.store.nextDue(request, world.now()), world.now() + 12_000);
      await world.advance(12_000);
      equal((await world.claim(request)).length, 1);
      equal(await world.store.nextDue(request, world.now()), null);
    },

    'the next due time is soon if as many jobs run as a limit allows': async (world) => {
      await declare(world, 'db', { concurrency: 1 });
      await world.createAll(many(2, using([use('db')])));
      await world.claim(request);
      const next = await world.store.nextDue(request, world.now());
      ok(next !== null && next > world.now() && next <= world.now() + 1_000, 'the end of a job cannot be foreseen');
    },

    'the use of a limit is read by key, or of the keys with the most use': async (world) => {
      await declare(world, 'tenant', { rate: { ...slow, burst: 3 } });
      const key = (name: string): JobSpec => using([use('tenant', { key: name })]);
      await world.createAll([key('a'), key('a'), key('b'), key('b'), key('b'), key('c')]);
      const taken = await world.claim();
      equal(taken.length, 6);
      await end(world, taken.find(({ gate }) => gate === key('c').gate)!);
      same(await world.store.limitUse('tenant', { keys: ['b', 'none'] }), [
        { key: 'b', admitted: 3, opensAt: world.now() + 10_000, closedUntil: null },
        { key: 'none', admitted: 0, opensAt: (await world.store.limitUse('tenant', { keys: ['none'] }))[0]!.opensAt, closedUntil: null },
      ]);
      const most = await world.store.limitUse('tenant', { count: 2 });
      deepEqual(most.map((each) => each.key), ['b', 'a']);
      sameMembers((await world.store.limitUse('tenant', { count: 9 })).map((each) => each.key!), ['a', 'b', 'c']);
      deepEqual(await world.store.limitUse('unused', { count: 9 }), []);
    },

    'the purge forgets rates that are not in use, and no others': async (world) => {
      await declare(world, 'tenant', { rate: { ...slow, burst: 1 } });
      const key = (name: string): JobSpec => using([use('tenant', { key: name })]);
      await world.createAll([key('a'), key('a')]);
      await world.claim();
      await world.store.closeLimit('tenant', 'closed', world.now() + 50_000);
      const purge = (): Promise<number> => world.store.purge({ limit: 10, feedKeptMs: 1e12, retentionMs: null });
      await purge();
      deepEqual(await world.claim(), []);
      sameMembers((await world.store.limitUse('tenant', { count: 9 })).map((each) => each.key!), ['a', 'closed']);
      await world.advance(20_000);
      await purge();
      equal((await world.store.limitUse('tenant', { keys: ['closed'] }))[0]!.closedUntil, world.now() + 30_000);
      equal((await world.claim()).length, 1);
      await world.advance(100_000);
      await purge();
      same(await world.store.limitUse('tenant', { count: 9 }).then((all) => all.map((each) => each.key)), ['a']);
    },

    'limits and keys with odd names are distinct': async (world) => {
      const names = ['a/b', 'a', "it's", '100%', 'a%2Fb', 'ä', '👩‍👩‍👧', '{}', '["a",null,1]', 'a,b', 'NULL'];
      for (const name of names) await declare(world, name, { rate: { ...slow, burst: 1 } });
      for (const name of names) await world.createAll(many(2, using([use(name, { key: name })])));
      equal((await world.claim()).length, names.length);
      deepEqual(await world.claim(), []);
    },

    'four connections that claim at once exceed neither rate nor concurrency': async (world) => {
      const stores = [world.store, await world.again(), await world.again(), await world.again()];
      await declare(world, 'api', { rate: { ...slow, burst: 7 } });
      await declare(world, 'db', { concurrency: 9 });
      await world.createAll([...many(20, using([use('api')])), ...many(20, using([use('db')], { type: 'other' }))]);
      const turns = Array.from({ length: 16 }, (_, turn) => world.claim({ limit: 3 }, stores[turn % 4]));
      const taken = [...(await Promise.all(turns)).flat(), ...(await world.claim())];
      equal(taken.filter(({ type }) => type === 'limited').length, 7);
      equal(taken.filter(({ type }) => type === 'other').length, 9);
    },
  },
};
