/** Gates: their limits are never exceeded, and jobs that wait at a gate do not delay other jobs. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { gateText, type Gate, type Limits } from '../model/gate.ts';
import type { Job, RunningJob } from '../model/job.ts';
import { same, sameMembers } from './same.ts';
import type { JobSpec, Topic } from './world.ts';

interface PartialLimits {
  readonly types?: Record<string, number>;
  readonly defs?: Record<string, number>;
  readonly keys?: Record<string, number>;
}

const limits = ({ types = {}, defs = {}, keys = {} }: PartialLimits): Limits => ({
  types: new Map(Object.entries(types)),
  defs: new Map(Object.entries(defs)),
  keys: new Map(Object.entries(keys)),
});

function gated(fields: Partial<Gate> = {}, more: JobSpec = {}): JobSpec {
  const gate = { type: 'gated', def: null, key: null, leaderOnly: false, ...fields };
  return { type: gate.type, def: gate.def, gate: gateText(gate), ...more };
}

const many = (count: number, spec: JobSpec): JobSpec[] => Array.from({ length: count }, () => spec);
const error = { code: 'unknown', message: 'no' } as const;

export const gates: Topic = {
  name: 'gates',
  examples: {
    'without a limit every job is admitted': async (world) => {
      await world.createAll(many(4, gated()));
      equal((await world.claim()).length, 4);
    },

    "a type's limit holds within one claim and across claims": async (world) => {
      await world.createAll(many(6, gated()));
      const request = { limits: limits({ types: { gated: 3 } }) };
      equal((await world.claim({ ...request, limit: 2 })).length, 2);
      equal((await world.claim(request)).length, 1);
      equal((await world.claim(request)).length, 0);
    },

    'a limit of zero admits no job, and a limit below the number of running jobs is no error': async (world) => {
      await world.createAll(many(3, gated()));
      equal((await world.claim({ limits: limits({ types: { gated: 0 } }) })).length, 0);
      equal((await world.claim({ limit: 2 })).length, 2);
      equal((await world.claim({ limits: limits({ types: { gated: 1 } }) })).length, 0);
    },

    'waiting jobs are admitted in claim order': async (world) => {
      const jobs = await world.createAll([0, 5, 3, 5].map((priority) => gated({}, { priority })));
      const request = { limits: limits({ types: { gated: 3 } }) };
      sameMembers(await world.claimIds(request), [1, 3, 2].map((index) => jobs[index]!.id));
    },

    'definitions, and keys within a type, have limits of their own': async (world) => {
      const jobs = await world.createAll([
        ...many(3, gated({ def: 'a' })), ...many(3, gated({ def: 'b' })),
        ...many(3, gated({ key: 'x' })), ...many(3, gated({ key: 'y' })), ...many(2, gated()),
      ]);
      const taken = await world.claimIds({ limits: limits({ defs: { a: 1, b: 2 }, keys: { gated: 1 } }) });
      sameMembers(taken, [0, 3, 4, 6, 9, 12, 13].map((index) => jobs[index]!.id));
    },

    'the lowest of several limits applies': async (world) => {
      await world.createAll([...many(3, gated({ def: 'a', key: 'x' })), ...many(3, gated({ def: 'a', key: 'y' }))]);
      const request = { limits: limits({ types: { gated: 5 }, defs: { a: 3 }, keys: { gated: 2 } }) };
      equal((await world.claim(request)).length, 3);
    },

    'a key of one type is not limited by the same key of another': async (world) => {
      await world.createAll([...many(2, gated({ type: 't', key: 'x' })), ...many(2, gated({ type: 'u', key: 'x' }))]);
      equal((await world.claim({ limits: limits({ keys: { t: 1, u: 1 } }) })).length, 2);
    },

    'all gates of a type share the limit of the type': async (world) => {
      await world.createAll(['a', 'b', 'c', 'd'].map((key, priority) => gated({ key }, { priority })));
      const taken = await world.claim({ limits: limits({ types: { gated: 2 } }) });
      sameMembers(taken.map(({ priority }) => priority), [3, 2]);
    },

    'only the leader admits jobs at a gate for the leader': async (world) => {
      const [job] = await world.createAll([gated({ leaderOnly: true })]) as [Job];
      deepEqual(await world.claimIds(), []);
      deepEqual(await world.claimIds({ isLeader: false }), []);
      deepEqual(await world.claimIds({ isLeader: true }), [job.id]);
    },

    'limits do not apply to jobs without a gate': async (world) => {
      await world.createAll(many(3, { type: 'gated' }));
      equal((await world.claim({ limits: limits({ types: { gated: 1 } }) })).length, 3);
    },

    'a full gate does not delay other jobs, however many wait at it': async (world) => {
      await world.createAll([...many(500, gated({}, { priority: 9 })), gated({ type: 'other' }), { type: 'free' }]);
      const request = { limits: limits({ types: { gated: 1 } }) };
      equal((await world.claim({ ...request, limit: 1 }))[0]?.type, 'gated');
      equal((await world.claim({ ...request, limit: 1 }))[0]?.type, 'other');
      equal((await world.claim({ ...request, limit: 1 }))[0]?.type, 'free');
      deepEqual(await world.claim(request), []);
    },

    'a job stops counting toward its gate when it ends, is released, fails, lapses or is deleted': async (world) => {
      const taking = { limits: limits({ types: { gated: 1 } }), leaseMs: 1000 };
      await world.createAll(many(6, gated()));
      const next = async (): Promise<Job & { fence: number }> => {
        const claimed = await world.claim(taking);
        equal(claimed.length, 1, 'one more job is admitted');
        return claimed[0]!;
      };
      const later = world.now() + 1_000_000;
      let job = await next();
      await world.apply(job, { do: 'succeed', fence: job.fence });
      job = await next();
      await world.apply(job, { do: 'release', fence: job.fence, due: later });
      job = await next();
      await world.apply(job, { do: 'fail', fence: job.fence, error, retryable: true, retryAt: later });
      job = await next();
      await world.apply(job, { do: 'stop', code: 'admin' });
      job = await next();
      ok(await world.remove(job));
      job = await next();
      await world.advance(1000);
      await world.apply(job, { do: 'lapse' });
      await next();
      deepEqual(await world.claim(taking), []);
    },

    'a run that waits for its tasks stays admitted, and gathers without passing the gate again': async (world) => {
      const { parent, children } = await world.createFamily(1, gated());
      const request = { limits: limits({ types: { gated: 1 } }) };
      const waiting = await world.create(gated());
      deepEqual(await world.claimIds({ ...request, kinds: ['run'] }), []);
      await world.apply(children[0]!, { do: 'stop', code: 'admin' });
      await world.apply(parent, { do: 'settle' });
      deepEqual(await world.claimIds({ ...request, kinds: ['run'] }), [parent.id], 'it is admitted already');
      same(await world.store.admittedPerGate(['gated']), new Map([[waiting.gate, 1]]));
    },

    'a run that failed to gather stays admitted until its retry': async (world) => {
      const { parent } = await world.createFamily(0, gated());
      const request = { limits: limits({ types: { gated: 1 } }) };
      await world.create(gated({}, { priority: 5 }));
      const [gathering] = await world.claim(request) as [RunningJob];
      equal(gathering.id, parent.id);
      const retryAt = world.now() + 10;
      await world.apply(gathering, { do: 'fail', fence: gathering.fence, error, retryable: true, retryAt });
      deepEqual(await world.claimIds(request), []);
      await world.advance(10);
      deepEqual(await world.claimIds(request), [parent.id]);
    },

    'the admitted jobs are counted per gate of a type': async (world) => {
      const [a, b, other] = [gated({ key: 'a' }), gated({ key: 'b' }), gated({ type: 'other' })];
      await world.createAll([a, a, b, other, { type: 'gated' }]);
      same(await world.store.admittedPerGate(['gated', 'other']), new Map());
      await world.claim();
      await world.create(a);
      same(await world.store.admittedPerGate(['gated']), new Map([[a.gate, 2], [b.gate, 1]]));
      same(await world.store.admittedPerGate(['other', 'none']), new Map([[other.gate, 1]]));
      same(await world.store.admittedPerGate([]), new Map());
    },

    'gates with odd names are distinct': async (world) => {
      const names = ['a/b', 'a', 'b', "it's", '100%', 'a%2Fb', 'ä', '👩‍👩‍👧', ' ', 'any'];
      for (const name of names) await world.createAll(many(2, gated({ type: name, def: name, key: name })));
      const request = { limits: limits({ types: Object.fromEntries(names.map((name) => [name, 1])) }) };
      sameMembers((await world.claim(request)).map(({ type }) => type), names);
      deepEqual(await world.claim(request), []);
    },

    'gated and free jobs are claimed in one order': async (world) => {
      const jobs = await world.createAll([
        gated({}, { priority: 1 }), { priority: 2 }, gated({}, { priority: 3 }), { priority: 4 },
      ]);
      sameMembers(await world.claimIds({ limit: 2 }), [jobs[3]!.id, jobs[2]!.id]);
      sameMembers(await world.claimIds({ limit: 2 }), [jobs[1]!.id, jobs[0]!.id]);
    },

    'only jobs of the requested priorities are admitted, and no others count': async (world) => {
      const jobs = await world.createAll([gated({}, { priority: 9 }), gated({}, { priority: 1 })]);
      const request = { limits: limits({ types: { gated: 1 } }) };
      deepEqual(await world.claimIds({ ...request, priorities: [1] }), [jobs[1]!.id]);
      deepEqual(await world.claimIds(request), []);
    },

    'keys behind the deep queue of a full key pass all the same, each as far as it has room': async (world) => {
      await world.createAll(many(400, gated({ key: 'deep' })));
      const keys = ['a', 'b', 'c', 'd', 'e'];
      await world.createAll(keys.flatMap((key) => many(2, gated({ key }, { due: world.now() }))));
      const request = { limits: limits({ keys: { gated: 1 } }), limit: 2 };
      const passed: (string | null)[] = [];
      for (let claims = 0; claims < 4; claims++) passed.push(...(await world.claim(request)).map(({ gate }) => gate));
      sameMembers(passed, ['deep', ...keys].map((key) => gated({ key }).gate!));
      deepEqual(await world.claim(request), [], 'each key has one behind its gate');
    },

    'of thousands of keys as many pass as are asked for, the first due first': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 700 }, (_, index) => gated({ key: `key ${index}` })));
      const request = { limits: limits({ keys: { gated: 1 } }), limit: 300 };
      const turns = [await world.claimIds(request), await world.claimIds(request), await world.claimIds(request)];
      sameMembers(turns.flat(), jobs.map(({ id }) => id));
      sameMembers(turns[0]!, jobs.slice(0, 300).map(({ id }) => id));
    },

    'two connections that claim at once do not exceed a limit together': async (world) => {
      const other = await world.again();
      await world.createAll(many(40, gated()));
      const request = { limits: limits({ types: { gated: 7 } }), limit: 3 };
      const turns = Array.from({ length: 12 }, (_, turn) => world.claimIds(request, turn % 2 ? other : world.store));
      equal((await Promise.all(turns)).flat().length + (await world.claimIds(request)).length, 7);
    },
  },
};
