/** Creation: a new job is stored exactly as it was passed, under an id of its own. */
import { deepEqual, equal, ok } from 'node:assert/strict';
import { replay } from '../model/evolve.ts';
import type { Plan } from '../model/job.ts';
import { gateText } from '../model/gate.ts';
import { originOf } from '../store/row.ts';
import { hugePayload, oddPayloads, textsForJson } from './odd-texts.ts';
import { byId, same } from './same.ts';
import { childOf, newJob, startOfTime, type JobSpec, type Topic } from './world.ts';

const highestId = Number.MAX_SAFE_INTEGER;

const plan: Plan = {
  schedules: [
    { activated: 5, lastNominal: null, next: { nominal: 60_000, due: 61_000 }, run: null },
    { activated: 7, lastNominal: 30_000, next: null, run: highestId },
  ],
};

/** The fields of a new job, all of which differ from their defaults. */
const fullSpec: JobSpec = {
  kind: 'task',
  type: 'mail/send.v2',
  def: 'nightly mail',
  key: 'part 7',
  gate: gateText({ type: 'mail/send.v2', def: 'nightly mail', key: 'tenant/ä', leaderOnly: true }),
  unique: { key: 'mail of the 5th', forMs: 86_400_000 },
  policy: {
    attemptsMax: 7, backoff: 'linear', baseMs: 10, maxMs: 100, jitter: 0.25, crashesMax: 2, timeoutMs: 1000,
    prepareTimeoutMs: 500, onTaskFailure: { toleratePercent: 12.5 }, retentionMs: 5000, leaderOnly: true,
    repeat: 'FINISHED, +1 DAY', retryAfter: '+5 MINUTES', startBy: startOfTime + 9_999_999,
  },
  tags: { tenant: 'acme', 'odd name': '' },
  input: '{"to":["a@example.com"]}',
  tick: { def: highestId, schedule: 1, nominal: startOfTime - 1, isAwaited: true },
  due: startOfTime + 12_345,
  priority: -7,
  phase: 'gather',
  hold: 'parent',
  plan,
};

export const insert: Topic = {
  name: 'create',
  examples: {
    'a new job with defaults is loaded as created': async (world) => {
      const job = await world.create();
      same(await world.load(job.id), job);
    },

    'a new job with every field set is loaded as created': async (world) => {
      const parent = await world.create();
      const job = await world.create({ ...fullSpec, parent: parent.id });
      same(await world.load(job.id), job);
    },

    'a new job of every kind, hold and phase is loaded as created': async (world) => {
      for (const kind of ['run', 'task', 'bedrock', 'def'] as const) {
        for (const hold of ['pause', 'parent', undefined] as const) {
          for (const phase of ['prepare', 'run', 'gather'] as const) {
            const spec = { kind, phase, ...(hold ? { hold } : {}), ...(kind === 'def' ? { plan } : {}) };
            const job = await world.create(spec);
            same(await world.load(job.id), job);
          }
        }
      }
    },

    'jobs that are claimed by the commit that creates them are running, beside one that waits': async (world) => {
      const fresh = await world.newJobs([{}, { type: 'other' }, { unique: { key: 'k', forMs: null } }]);
      const claim = { do: 'claim', holder: 'ann', until: null, parentCancelled: false } as const;
      const [first, waiting, last] = fresh.map((change, index) => {
        const { after, events } = index === 1 ? change : world.decide(change.after, claim);
        return { before: null, after, events: index === 1 ? events : [...change.events, ...events] };
      });
      deepEqual(await world.store.commit({ changes: [first!, waiting!, last!] }), [true, true, true]);
      for (const { after, events } of [first!, waiting!, last!]) {
        same(await world.load(after.id), after);
        deepEqual(await world.store.history(after.id), events);
      }
      deepEqual(
        byId(await world.store.heldUnderLeaseOf('ann', 10)).map(({ id }) => id), [first!.after.id, last!.after.id],
      );
      deepEqual(await world.claimIds(), [waiting!.after.id]);
    },

    'a new job is visible to other connections immediately': async (world) => {
      const other = await world.again();
      const job = await world.create();
      same(await world.load(job.id, other), job);
    },

    'a job whose id is taken is not written, and changes nothing': async (world) => {
      const job = await world.create({ input: '"first"' });
      const double = await world.newJob({ id: job.id, input: '"second"', unique: { key: 'k', forMs: null } });
      deepEqual(await world.store.commit({ changes: [double] }), [false]);
      same(await world.load(job.id), job);
      equal((await world.store.history(job.id)).length, 1);
      equal((await world.store.jobsByKey(['k'])).size, 0, 'its unique key stays free');
    },

    'a job with the id of an ended job is not written': async (world) => {
      const ended = await world.createEnded();
      deepEqual(await world.store.commit({ changes: [await world.newJob({ id: ended.id })] }), [false]);
      same(await world.load(ended.id), ended);
    },

    'of two new jobs with one id in a batch, the first is written': async (world) => {
      const job = await world.newJob();
      deepEqual(await world.store.commit({ changes: [job, job] }), [true, false]);
      equal((await world.store.history(job.after.id)).length, 1);
    },

    'an empty batch returns an empty list': async (world) => {
      deepEqual(await world.store.commit({ changes: [] }), []);
      deepEqual(await world.store.commit({ changes: [], whole: true }), []);
    },

    'a batch of two thousand jobs is stored completely': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 2000 }, (_, index) => ({ priority: index % 5 })));
      same(byId(await world.store.load(jobs.map(({ id }) => id))), jobs);
    },

    'new jobs that differ only in input are all in the feed, in order': async (world) => {
      const from = await world.store.feedEnd();
      const jobs = await world.createAll(Array.from({ length: 150 }, (_, index) => ({ input: `${index}` })));
      same(byId(await world.store.load(jobs.map(({ id }) => id))), jobs);
      deepEqual(await world.feedAfter(from), jobs.map(({ id }) => ({ job: id, n: 1 })));
      const { events } = await world.store.eventsAfter(from, 150);
      for (const { job, event } of events) deepEqual(await world.store.history(job), [event]);
    },

    'new jobs that differ in one field are loaded as created': async (world) => {
      for (const [field, value] of Object.entries(fullSpec)) {
        const odd = { [field]: value };
        const jobs = await world.createAll([{}, {}, odd, ...(field === 'unique' ? [] : [odd]), {}, {}]);
        same(byId(await world.store.load(jobs.map(({ id }) => id))), jobs);
        for (const job of jobs) same(replay(originOf(job), await world.store.history(job.id)), job);
      }
    },

    'of equal new jobs, those whose ids are taken are not written, and the others are': async (world) => {
      const changes = await world.newJobs(Array.from({ length: 9 }, () => ({})));
      await world.mustWrite([changes[3]!]);
      await world.apply(changes[3]!.after, { do: 'stop', code: 'admin' });
      await world.mustWrite([changes[7]!]);
      const written = await world.store.commit({ changes });
      deepEqual(written, changes.map((_, index) => index !== 3 && index !== 7));
      equal((await world.store.load(changes.map(({ after }) => after.id))).length, 9);
    },

    'reserved ids ascend and are never reserved twice, on any connection': async (world) => {
      const other = await world.again();
      const counts = [1, 5, 1, 100, 3, 1, 1];
      const firsts = await Promise.all(counts.map((count, turn) => (turn % 2 ? other : world.store).reserveIds(count)));
      const ids = firsts.flatMap((first, turn) => Array.from({ length: counts[turn]! }, (_, offset) => first + offset));
      equal(new Set(ids).size, ids.length);
      ok(Math.min(...ids) >= 1);
      ok((await world.store.reserveIds(1)) > Math.max(...ids));
    },

    'ids up to 2^53 - 1 are stored exactly, and reserving continues below them': async (world) => {
      const parent = await world.create({ id: highestId });
      const child = await world.create({ ...childOf(parent), id: highestId - 1 });
      const neighbour = await world.create({ id: highestId - 2 });
      same(byId(await world.store.load([highestId, highestId - 1, highestId - 2])), [neighbour, child, parent]);
      same((await world.store.find({ parent: highestId })).jobs, [child]);
      same((await world.store.find({}, { after: highestId, limit: 1 })).jobs, [child]);
      ok((await world.store.reserveIds(1)) < highestId - 2);
      const [running] = await world.claim({ kinds: ['task'] });
      deepEqual(await world.store.extend([{ id: highestId - 1, fence: 1 }], world.now() + 120_000), [true]);
      equal(running?.id, highestId - 1);
    },

    'times and priorities at the limits of their range are stored exactly': async (world) => {
      for (const due of [0, 1, 8_640_000_000_000_000]) {
        for (const priority of [-2_147_483_648, 0, 2_147_483_647]) {
          const job = await world.create({ due, priority });
          same(await world.load(job.id), job);
        }
      }
    },

    'payloads are stored unchanged, for open and ended jobs': async (world) => {
      for (const payload of oddPayloads) {
        const job = await world.createRunning({ input: payload });
        equal((await world.load(job.id))?.input, payload);
        await world.apply(job, { do: 'succeed', fence: job.fence, result: payload });
        const ended = await world.load(job.id);
        deepEqual([ended?.input, ended?.result], [payload, payload]);
      }
    },

    'odd texts are stored unchanged in tags, keys, errors and reasons': async (world) => {
      for (const text of textsForJson) {
        const spec = { key: text, tags: { [text || 'x']: text }, input: JSON.stringify(text) };
        const job = await world.createRunning(spec, { holder: 'holder' });
        const error = { code: 'unknown', message: text, data: { [text]: [text] }, stack: text } as const;
        const failed = await world.apply(job, { do: 'fail', fence: job.fence, error, retryable: false });
        same(await world.load(job.id), failed, `with ${JSON.stringify(text)}`);
      }
    },

    'payloads of 900 kB are stored unchanged': async (world) => {
      const job = await world.createRunning({ input: hugePayload });
      await world.apply(job, { do: 'succeed', fence: job.fence, result: hugePayload });
      const ended = await world.load(job.id);
      ok(ended?.input === hugePayload && ended.result === hugePayload);
    },

    'load omits unknown ids and returns each job once': async (world) => {
      const jobs = await world.createAll([{}, {}]);
      const ids = jobs.map(({ id }) => id);
      same(byId(await world.store.load([...ids, highestId, ...ids, 0])), jobs);
      deepEqual(await world.store.load([]), []);
    },

    'forty thousand ids can be loaded in one call': async (world) => {
      const job = await world.create();
      same(await world.store.load(Array.from({ length: 40_000 }, (_, index) => job.id + index)), [job]);
    },

    'a job created long ago is stored unchanged': async (world) => {
      const change = newJob({ id: await world.store.reserveIds(1), created: 1 });
      await world.mustWrite([change]);
      same(await world.load(change.after.id), change.after);
    },
  },
};
