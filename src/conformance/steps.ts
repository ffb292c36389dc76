/** Steps: their ends are written once, only under the current fence, and stay until a retry forgets them. */
import { deepEqual, equal } from 'node:assert/strict';
import type { Job } from '../model/job.ts';
import type { NewStep } from '../model/step.ts';
import { hugePayload, oddPayloads } from './odd-texts.ts';
import { same } from './same.ts';
import type { Topic, World } from './world.ts';

const end = ({ id, fence }: Pick<Job, 'id' | 'fence'>, name: string, n: number, more: Partial<NewStep> = {}): NewStep =>
  ({ job: id, fence, name, n, kind: 'step', startedAt: 5, endedAt: 7, result: '{"a":1}', question: null, ...more });

const namesOf = async ({ store }: World, { id }: Job): Promise<string[]> =>
  (await store.steps([id])).filter(({ endedAt }) => endedAt !== null).map(({ name }) => name);

export const steps: Topic = {
  name: 'steps',
  examples: {
    'a job has no steps before the first is written': async (world) => {
      const job = await world.createRunning();
      deepEqual(await world.store.steps([job.id, 999_999]), []);
      deepEqual(await world.store.steps([]), []);
      deepEqual(await world.store.writeSteps([]), []);
    },

    'steps are stored unchanged and read in the order of their numbers': async (world) => {
      const job = await world.createRunning();
      const sleep = end(job, 'z', 1, { kind: 'sleep', endedAt: 1e12, result: null });
      const ends = [sleep, ...[...oddPayloads, hugePayload].map((result, at) => end(job, `a "${at}" ö'`, at + 2, { result }))];
      deepEqual(await world.store.writeSteps(ends), ends.map(() => true));
      same(await world.store.steps([job.id]), ends.map((step) => ({ ...step, generation: 1 })));
    },

    'steps of several jobs are read together, each job from any number on and up to a limit': async (world) => {
      const [a, b] = [await world.createRunning(), await world.createRunning()];
      const ends = [a, b].flatMap((job) => ['x', 'y', 'z'].map((name, at) => end(job, name, at + 1)));
      await world.store.writeSteps(ends);
      const found = await world.store.steps([b.id, a.id, b.id], 1, 1);
      deepEqual(found.map(({ job, name }) => [job, name]), [[a.id, 'y'], [b.id, 'y']]);
    },

    'a step is found by the name that it has in its job, also a forgotten one': async (world) => {
      const [a, b] = [await world.createRunning(), await world.createRunning()];
      await world.store.writeSteps([end(a, "x'ö", 1), end(a, 'y', 2), end(b, "x'ö", 1, { result: '2' })]);
      same(await world.store.stepNamed(b.id, "x'ö"), { ...end(b, "x'ö", 1, { result: '2' }), generation: 1 });
      equal(await world.store.stepNamed(b.id, 'y'), undefined);
      equal(await world.store.stepNamed(999_999, 'y'), undefined);
      const ended = await world.apply(a, { do: 'succeed', fence: a.fence });
      const change = world.decide(ended, { do: 'retry', reopens: 0 });
      const forgottenSteps = [{ job: a.id, from: 0, generation: 2 }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, forgottenSteps }), [true]);
      const { generation, endedAt } = (await world.store.stepNamed(a.id, 'y'))!;
      deepEqual({ generation, endedAt }, { generation: 2, endedAt: null });
    },

    'a former holder of a job cannot write steps': async (world) => {
      const job = await world.createRunning();
      await world.apply(job, { do: 'release', fence: job.fence });
      deepEqual(await world.store.writeSteps([end(job, 'a', 1)]), [false], 'given back');
      const [again] = await world.claim();
      deepEqual(await world.store.writeSteps([end(job, 'a', 1)]), [false], 'held by another');
      await world.apply(again!, { do: 'succeed', fence: again!.fence });
      deepEqual(await world.store.writeSteps([end(again!, 'a', 1)]), [false], 'ended');
      deepEqual(await world.store.writeSteps([end({ id: 999_999, fence: 1 }, 'a', 1)]), [false], 'unknown');
      deepEqual(await world.store.steps([job.id]), []);
    },

    'the first end of a step stays; a repeated write under the same fence counts as stored': async (world) => {
      const job = await world.createRunning();
      deepEqual(await world.store.writeSteps([end(job, 'a', 1)]), [true]);
      deepEqual(await world.store.writeSteps([end(job, 'a', 1, { result: '2' }), end(job, 'b', 2)]), [true, true]);
      await world.apply(job, { do: 'release', fence: job.fence });
      const [again] = await world.claim();
      deepEqual(await world.store.writeSteps([end(again!, 'a', 3), end(again!, 'c', 3)]), [false, true]);
      const found = await world.store.steps([job.id]);
      deepEqual(found.map(({ name, n, result, fence }) => [name, n, result, fence]), [
        ['a', 1, '{"a":1}', job.fence], ['b', 2, '{"a":1}', job.fence], ['c', 3, '{"a":1}', again!.fence],
      ]);
    },

    'a step of one call may occur twice': async (world) => {
      const job = await world.createRunning();
      deepEqual(await world.store.writeSteps([end(job, 'a', 1), end(job, 'a', 2, { result: '2' })]), [true, true]);
      deepEqual((await world.store.steps([job.id])).map(({ n, result }) => [n, result]), [[1, '{"a":1}']]);
    },

    'steps of jobs that were claimed together are written': async (world) => {
      for (let count = 0; count < 5; count += 1) await world.create();
      const jobs = await world.claim({ limit: 5 });
      deepEqual(await world.store.writeSteps(jobs.map((job) => end(job, 'a', 1))), jobs.map(() => true));
      await world.apply(jobs[0]!, { do: 'succeed', fence: jobs[0]!.fence });
      deepEqual(await world.store.writeSteps(jobs.map((job) => end(job, 'b', 2))), [false, true, true, true, true]);
    },

    'a reopened job forgets steps from a number on, in one commit, and can store them again': async (world) => {
      const job = await world.createRunning();
      await world.store.writeSteps(['a', 'b', 'c'].map((name, at) => end(job, name, at + 1)));
      const ended = await world.apply(job, { do: 'fail', fence: job.fence, retryable: false, error: failure });
      deepEqual(await namesOf(world, job), ['a', 'b', 'c'], 'after the end');
      const change = world.decide(ended, { do: 'retry', reopens: 0, from: 'b' });
      const forgottenSteps = [{ job: job.id, from: 2, generation: 2 }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, forgottenSteps }), [true]);
      deepEqual(await namesOf(world, job), ['a']);
      const [again] = await world.claim();
      deepEqual(await world.store.writeSteps([end(again!, 'a', 4), end(again!, 'b', 4, { result: '2' })]), [false, true]);
      const found = (await world.store.steps([job.id])).map(({ name, generation, result }) => [name, generation, result]);
      deepEqual(found, [['a', 1, '{"a":1}'], ['c', 2, null], ['b', 2, '2']]);
    },

    'a reopened job forgets steps and asks an earlier question again, in one commit': async (world) => {
      const job = await world.createRunning();
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{}' } as const;
      await world.store.writeSteps([end(job, 'x', 1, ask), end(job, 'b', 2)]);
      const timedOut = world.decide(job, { do: 'answer', name: 'x' });
      const answer = [{ job: job.id, name: 'x', at: 9, result: '{"timedOut":true}' }];
      deepEqual(await world.store.commit({ changes: [timedOut], whole: true, waitEnds: answer }), [true]);
      const ended = await world.apply(timedOut.after, { do: 'fail', fence: job.fence, retryable: false, error: failure });
      const change = world.decide(ended, { do: 'retry', reopens: 0, from: 'b' });
      const forgottenSteps = [{ job: job.id, from: 2, generation: 2 }];
      const waitEnds = [{ job: job.id, name: 'x', at: 11, result: null }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, forgottenSteps, waitEnds }), [true]);
      deepEqual((await world.store.openWaits({ job: job.id, name: '' }, 10)).map(({ name }) => name), ['x']);
      deepEqual(await namesOf(world, job), []);
    },

    'steps are not forgotten by a commit that is not written': async (world) => {
      const job = await world.createRunning();
      await world.store.writeSteps([end(job, 'a', 1)]);
      const ended = await world.apply(job, { do: 'succeed', fence: job.fence });
      const change = world.decide(ended, { do: 'retry', reopens: 0 });
      await world.apply(ended, { do: 'edit', edit: { priority: 7 } });
      const forgottenSteps = [{ job: job.id, from: 1, generation: 2 }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, forgottenSteps }), [false]);
      deepEqual(await namesOf(world, job), ['a']);
    },

    'the question of a wait is stored, replaced and listed until it has an answer': async (world) => {
      const [a, b] = [await world.createRunning(), await world.createRunning()];
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{"ask":"?"}' } as const;
      deepEqual(await world.store.writeSteps([end(a, 'x', 1, ask), end(b, 'ö', 1, ask), end(b, 'a', 2, ask)]), [true, true, true]);
      deepEqual(await world.store.writeSteps([end(a, 'x', 2, { ...ask, question: '{"ask":"!"}' })]), [true]);
      const cursors = (waits: readonly NewStep[]): unknown[] => waits.map(({ job, name }) => [job, name]);
      const open = await world.store.openWaits(null, 10);
      deepEqual(cursors(open), [[a.id, 'x'], [b.id, 'a'], [b.id, 'ö']]);
      deepEqual(open[0]!.question, '{"ask":"!"}');
      deepEqual(cursors(await world.store.openWaits({ job: a.id, name: 'x' }, 1)), [[b.id, 'a']]);
      const change = world.decide(b, { do: 'answer', name: 'a' });
      const waitEnds = [{ job: b.id, name: 'a', at: 9, result: '{"value":1}' }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, waitEnds }), [true]);
      deepEqual(cursors(await world.store.openWaits({ job: b.id, name: '' }, 10)), [[b.id, 'ö']]);
      const [, answered] = await world.store.steps([b.id]);
      same(answered, { ...end(b, 'a', 2, ask), generation: 1, endedAt: 9, result: '{"value":1}' });
      deepEqual(await world.store.writeSteps([end(b, 'a', 3, ask)]), [true], 'the wait has ended under this fence');
      deepEqual(cursors(await world.store.openWaits({ job: b.id, name: '' }, 10)), [[b.id, 'ö']]);
    },

    'an answer before the question is stored in the commit of its event, and keeps the question from being written': async (world) => {
      const job = await world.createRunning();
      const change = world.decide(job, { do: 'answer', name: 'x' });
      const waitEnds = [{ job: job.id, name: 'x', at: 9, result: '{"value":1}' }];
      await world.apply(job, { do: 'edit', edit: { priority: 7 } });
      deepEqual(await world.store.commit({ changes: [change], whole: true, waitEnds }), [false]);
      deepEqual(await world.store.steps([job.id]), []);
      const again = world.decide((await world.load(job.id))!, { do: 'answer', name: 'x' });
      deepEqual(await world.store.commit({ changes: [again], whole: true, waitEnds }), [true]);
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{}' } as const;
      deepEqual(await world.store.writeSteps([end(job, 'x', 1, ask)]), [false]);
      const early = { kind: 'wait', fence: 0, n: 0, startedAt: 9, endedAt: 9, result: '{"value":1}', question: null } as const;
      same(await world.store.steps([job.id]), [{ job: job.id, name: 'x', generation: 1, ...early }]);
      const refused = world.decide((await world.load(job.id))!, { do: 'unanswer', fence: job.fence, name: 'x', cause: 'role' });
      const reopened = [{ job: job.id, name: 'x', at: 11, result: null }];
      deepEqual(await world.store.commit({ changes: [refused], whole: true, waitEnds: reopened }), [true]);
      deepEqual(await world.store.writeSteps([end(job, 'x', 1, ask)]), [true]);
      deepEqual((await world.store.openWaits({ job: job.id, name: '' }, 10)).map(({ n, fence }) => [n, fence]), [[1, job.fence]]);
    },

    'an end replaces an answer that came before its question, and keeps its generation': async (world) => {
      const job = await world.createRunning();
      await world.store.writeSteps([end(job, 'a', 1)]);
      const ended = await world.apply(job, { do: 'succeed', fence: job.fence });
      const retry = world.decide(ended, { do: 'retry', reopens: 0 });
      const forgottenSteps = [{ job: job.id, from: 0, generation: 2 }];
      deepEqual(await world.store.commit({ changes: [retry], whole: true, forgottenSteps }), [true]);
      for (const name of ['a', 'b']) {
        const change = world.decide((await world.load(job.id))!, { do: 'answer', name });
        const waitEnds = [{ job: job.id, name, at: 9, result: '{"value":1}' }];
        deepEqual(await world.store.commit({ changes: [change], whole: true, waitEnds }), [true]);
      }
      deepEqual((await world.store.steps([job.id])).map(({ name, n, fence }) => [name, n, fence]), [['a', 0, 0], ['b', 0, 0]]);
      const [again] = await world.claim();
      deepEqual(await world.store.writeSteps([end(again!, 'a', 1), end(again!, 'b', 2, { kind: 'wait' })]), [true, true]);
      deepEqual(await world.store.writeSteps([end(again!, 'a', 3, { result: '3' })]), [true], 'it was stored before');
      const found = (await world.store.steps([job.id])).map(({ name, kind, n, generation, result }) => [name, kind, n, generation, result]);
      deepEqual(found, [['a', 'step', 1, 2, '{"a":1}'], ['b', 'wait', 2, 1, '{"a":1}']]);
    },

    'questions of ended jobs are not listed': async (world) => {
      const jobs = [await world.createRunning(), await world.createRunning(), await world.createRunning()];
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{}' } as const;
      await world.store.writeSteps(jobs.map((job) => end(job, 'x', 1, ask)));
      for (const { id, fence } of jobs.slice(0, 2)) {
        await world.apply((await world.load(id))!, { do: 'fail', fence, retryable: false, error: failure });
      }
      deepEqual((await world.store.openWaits({ job: jobs[0]!.id - 1, name: 'z' }, 1)).map(({ job }) => job), [jobs[2]!.id]);
    },

    'open questions are counted, and the oldest is known': async (world) => {
      const before = await world.store.tallyOpenWaits();
      const jobs = [await world.createRunning(), await world.createRunning()];
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{}' } as const;
      await world.store.writeSteps(jobs.map((job, at) => end(job, 'x', 1, { ...ask, startedAt: 4 - at })));
      await world.store.writeSteps([end(jobs[0]!, 'y', 2)]);
      deepEqual(await world.store.tallyOpenWaits(), { count: before.count + 2, oldest: 3 });
      const { id, fence } = jobs[1]!;
      await world.apply((await world.load(id))!, { do: 'fail', fence, retryable: false, error: failure });
      deepEqual(await world.store.tallyOpenWaits(), { count: before.count + 1, oldest: 4 });
    },

    'a reopened job forgets its questions, too': async (world) => {
      const job = await world.createRunning();
      const ask = { kind: 'wait', endedAt: null, result: null, question: '{}' } as const;
      await world.store.writeSteps([end(job, 'x', 1, ask)]);
      const ended = await world.apply(job, { do: 'succeed', fence: job.fence });
      const change = world.decide(ended, { do: 'retry', reopens: 0 });
      const forgottenSteps = [{ job: job.id, from: 0, generation: 2 }];
      deepEqual(await world.store.commit({ changes: [change], whole: true, forgottenSteps }), [true]);
      deepEqual((await world.store.openWaits({ job: job.id, name: '' }, 10)).filter((wait) => wait.job === job.id), []);
    },

    'a purge deletes the steps of a job': async (world) => {
      const job = await world.createRunning({ policy: { retentionMs: 5 } });
      await world.store.writeSteps([end(job, 'a', 1)]);
      await world.apply(job, { do: 'succeed', fence: job.fence });
      await world.advance(5);
      equal(await world.store.purge({ limit: 10, feedKeptMs: 1000, retentionMs: null }), 1);
      deepEqual(await world.store.steps([job.id]), []);
    },

    'a step changes neither version nor history': async (world) => {
      const job = await world.createRunning();
      await world.store.writeSteps([end(job, 'a', 1)]);
      same(await world.load(job.id), job);
      equal((await world.store.history(job.id)).length, job.version);
    },
  },
};

const failure = { code: 'unknown', message: 'it failed' } as const;
