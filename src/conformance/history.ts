/** History and feed: every event is stored, numbered without gaps, and read once by every reader of the feed. */
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import type { Change } from '../model/change.ts';
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import { turn } from '../time/clock.ts';
import { historyTailMax } from '../store/row.ts';
import { checkHistory } from './invariants.ts';
import { textsForJson } from './odd-texts.ts';
import { same, sameMembers } from './same.ts';
import { childOf, type Topic, type World } from './world.ts';

const stop = { do: 'stop', code: 'admin' } as const;
const numbers = (events: readonly Event[]): number[] => events.map(({ n }) => n);
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** Pauses and resumes the job alternately, `times` changes in all; returns the job and its new events. */
async function rock(world: World, job: Job, times: number): Promise<{ job: Job; events: Event[] }> {
  const events: Event[] = [];
  let current = job;
  for (let turn = 0; turn < times; turn += 1) {
    const change = world.decide(current, { do: current.state === 'held' ? 'resume' : 'pause' });
    await world.mustWrite([change]);
    events.push(...change.events);
    current = change.after;
  }
  return { job: current, events };
}

async function editOften(world: World, job: Job, times: number): Promise<Job> {
  let edited = job;
  for (let priority = 0; priority < times; priority += 1) {
    edited = await world.apply(edited, { do: 'edit', edit: { priority } });
  }
  return edited;
}

/** Returns one change with many events: the job is paused and resumed alternately. Does not write the change. */
function rockAtOnce(world: World, job: Job, times: number): Change & { after: Job } {
  let change = { before: job, after: job, events: [] as Event[] };
  for (let turn = 0; turn < times; turn += 1) {
    const { after, events } = world.decide(change.after, { do: change.after.state === 'held' ? 'resume' : 'pause' });
    change = { before: job, after, events: [...change.events, ...events] };
  }
  return change;
}

export const history: Topic = {
  name: 'history and feed',
  examples: {
    'the first event contains the first state of the job': async (world) => {
      const change = await world.newJob({ due: world.now() + 5, priority: 3, hold: 'pause', phase: 'prepare' });
      await world.mustWrite([change]);
      same(await world.store.history(change.after.id), change.events);
    },

    'events with any content are stored unchanged': async (world) => {
      for (const text of textsForJson) {
        const job = await world.create();
        const asking = { by: text, why: text };
        const edit = { tags: { a: text }, input: JSON.stringify(text) };
        const [event] = world.decide(job, { do: 'edit', edit }).events;
        const recorded = { ...event!, ...asking };
        await world.mustWrite([{ before: job, after: { ...job, version: 2, changed: event!.at }, events: [recorded] }]);
        same((await world.store.history(job.id))[1], recorded);
        same((await world.store.eventsAfter(null, 1000)).events.at(-1)?.event, recorded);
      }
    },

    'a long history is stored completely and in order, across history chunks': async (world) => {
      const fresh = await world.newJob();
      await world.mustWrite([fresh]);
      const { job, events } = await rock(world, fresh.after, historyTailMax * 4 + 3);
      same(await world.store.history(job.id), [...fresh.events, ...events]);
      same(await world.load(job.id), job);
      checkHistory(job, await world.store.history(job.id));
    },

    'a history can be read from any event on, and page by page': async (world) => {
      const { job } = await rock(world, await world.create(), historyTailMax * 3);
      const around = [historyTailMax - 1, historyTailMax, historyTailMax + 1];
      for (const from of [1, 2, ...around, historyTailMax * 2, job.version]) {
        deepEqual(numbers(await world.store.history(job.id, from)), upTo(job.version, from));
        deepEqual(numbers(await world.store.history(job.id, from, 3)), upTo(Math.min(job.version, from + 2), from));
      }
      deepEqual(await world.store.history(job.id, job.version + 1), []);
      deepEqual(numbers(await world.store.history(job.id, 1, historyTailMax + 5)), upTo(historyTailMax + 5));
    },

    'the histories of many jobs are those of each of them': async (world) => {
      const { job: long } = await rock(world, await world.create({ hold: 'pause' }), historyTailMax * 2 + 2);
      const ended = await world.createEnded();
      await world.createAll([{}, {}, {}]);
      const [first, ...running] = await world.claim();
      await world.apply(first!, { do: 'succeed', fence: first!.fence });
      const waiting = await world.create();
      const ids = [long, ended, first!, ...running, waiting].map(({ id }) => id);
      const histories = await world.store.histories([...ids, waiting.id + 1]);
      sameMembers([...histories.keys()], ids);
      for (const id of ids) same(histories.get(id), await world.store.history(id));
    },

    'many events of one change are stored, even across a history chunk': async (world) => {
      for (const times of [1, historyTailMax - 1, historyTailMax, historyTailMax + 1, historyTailMax * 3]) {
        const job = await world.create();
        const change = rockAtOnce(world, job, times);
        await world.mustWrite([change]);
        const { job: after } = await rock(world, change.after, 2);
        checkHistory(after, await world.store.history(job.id));
      }
    },

    'a long history continues when its job ends, is edited, and is reopened': async (world) => {
      let job = await world.create();
      for (let turn = 0; turn < historyTailMax; turn += 1) {
        job = await world.apply(job, stop);
        if (turn % 3 === 0) job = await world.apply(job, { do: 'edit', edit: { tags: { turn: String(turn) } } });
        job = await world.apply(job, { do: 'retry', reopens: 0 });
      }
      job = await editOften(world, job, historyTailMax * 2);
      job = await world.apply(job, stop);
      job = await editOften(world, job, historyTailMax + 1);
      same(await world.load(job.id), job);
      checkHistory(job, await world.store.history(job.id));
    },

    'a job that does not exist has no history': async (world) => {
      deepEqual(await world.store.history(999_999), []);
    },

    'the feed has every event once, in the order of each job, with the fields of the job': async (world) => {
      const parent = await world.create({ type: 'parent' });
      const child = await world.create({ ...childOf(parent), type: 'kind of child' });
      await world.apply(child, { do: 'pause' });
      await world.apply(parent, stop);
      const { events } = await world.store.eventsAfter(null, 100);
      const [created] = await world.store.history(child.id);
      same(events[1], { job: child.id, kind: 'task', type: 'kind of child', def: null, parent: parent.id, event: created });
      deepEqual(events.map(({ job, event }) => [job, event.n, event.kind]), [
        [parent.id, 1, 'created'], [child.id, 1, 'created'], [child.id, 2, 'paused'], [parent.id, 2, 'cancelled'],
      ]);
    },

    'the feed has the definition of each job, even of jobs that change together': async (world) => {
      const defs = ['nightly', 'weekly "x"', null, 'nightly'];
      const jobs = await world.createAll(defs.map((def) => ({ def })));
      const claimed = await world.claim();
      equal(claimed.length, defs.length);
      await world.mustWrite(claimed.map((job) => world.decide(job, { do: 'succeed', fence: job.fence })));
      const ended = await world.store.load(jobs.map(({ id }) => id));
      await world.mustWrite(ended.map((job) => world.decide(job, { do: 'edit', edit: { tags: { a: 'b' } } })));
      const { events } = await world.store.eventsAfter(null, 100);
      for (const [index, { id }] of jobs.entries()) {
        deepEqual(events.filter(({ job }) => job === id).map(({ event, def }) => [event.kind, def]),
          ['created', 'claimed', 'succeeded', 'edited'].map((kind) => [kind, defs[index]]));
      }
    },

    'the feed can be read in pages of any size, even within one commit': async (world) => {
      const jobs = await world.createAll(Array.from({ length: 10 }, () => ({})));
      await world.mustWrite(jobs.map((job) => world.decide(job, { do: 'pause' })));
      await world.mustWrite([rockAtOnce(world, await world.create(), 9)]);
      const all = await world.feedAfter(null, 100);
      equal(all.length, 30);
      for (const limit of [1, 2, 3, 7, 29, 30, 31]) deepEqual(await world.feedAfter(null, limit), all);
    },

    'a page of the feed is never larger than requested': async (world) => {
      await world.createAll(Array.from({ length: 10 }, () => ({})));
      equal((await world.store.eventsAfter(null, 3)).events.length, 3);
    },

    'a cursor at the end of the feed stays valid, and later events follow it': async (world) => {
      await world.create();
      const end = await world.store.feedEnd();
      const nothing = await world.store.eventsAfter(end, 10);
      deepEqual(nothing.events, []);
      const job = await world.create();
      for (const cursor of [end, nothing.cursor]) deepEqual(await world.feedAfter(cursor), [{ job: job.id, n: 1 }]);
    },

    'an empty feed has a cursor, too': async (world) => {
      const end = await world.store.feedEnd();
      const { events, cursor } = await world.store.eventsAfter(null, 10);
      deepEqual(events, []);
      const job = await world.create();
      for (const from of [end, cursor, null]) deepEqual(await world.feedAfter(from), [{ job: job.id, n: 1 }]);
    },

    'the feed has no events of changes that were not written': async (world) => {
      const job = await world.create();
      await world.apply(job, { do: 'pause' });
      const end = await world.store.feedEnd();
      await world.store.commit({ changes: [world.decide(job, stop), await world.newJob({ id: job.id })] });
      await world.store.commit({ changes: [await world.newJob(), world.decide(job, stop)], whole: true });
      deepEqual(await world.feedAfter(end), []);
    },

    'a cursor of another store is refused': async (world) => {
      await world.create();
      for (const cursor of ['nonsense', '', ' ', '-1', 'NaN', '1e999', "1'; --", '\u0000', '9'.repeat(40)]) {
        const isRefused = (error: unknown): boolean => isRefusal(error) && error.code === 'malformed.cursor';
        await rejects(async () => world.store.eventsAfter(cursor, 10), isRefused, `cursor ${JSON.stringify(cursor)}`);
      }
    },

    'a reader that follows two writing connections gets every event once': async (world) => {
      const other = await world.again();
      const recorded: { job: number; n: number }[] = [];
      const jobs = await world.createAll(Array.from({ length: 40 }, () => ({})));
      let isWriting = true;
      const write = async (mine: Job[], store: typeof other): Promise<void> => {
        for (const job of mine) {
          const change = world.decide(job, { do: 'pause' });
          await store.commit({ changes: [change] });
          await store.commit({ changes: [world.decide(change.after, stop)] });
        }
      };
      const read = async (): Promise<void> => {
        for (let cursor: string | null = null; ; ) {
          const wasWriting = isWriting;
          const feed = await world.store.eventsAfter(cursor, 5);
          recorded.push(...feed.events.map(({ job, event }) => ({ job, n: event.n })));
          cursor = feed.cursor;
          if (feed.events.length === 0 && !wasWriting) return;
          await turn();
        }
      };
      const writing = Promise.all([write(jobs.slice(0, 20), world.store), write(jobs.slice(20), other)]);
      await Promise.all([read(), writing.then(() => { isWriting = false; })]);
      sameMembers(recorded, jobs.flatMap(({ id }) => [1, 2, 3].map((n) => ({ job: id, n }))));
      for (const { id } of jobs) deepEqual(recorded.filter(({ job }) => job === id).map(({ n }) => n), [1, 2, 3]);
    },

    'the feed has events of ended, edited and long-lived jobs': async (world) => {
      const end = await world.store.feedEnd();
      const ended = await world.createEnded();
      const edited = await world.apply(ended, { do: 'edit', edit: { priority: 4 } });
      const { job } = await rock(world, await world.apply(edited, { do: 'retry', reopens: 0 }), historyTailMax * 2);
      deepEqual(await world.feedAfter(end), upTo(job.version).map((n) => ({ job: job.id, n })));
      ok(job.version > historyTailMax * 2);
    },
  },
};
