// The text of feed entries: each event is stored once, and the events of one job stay in order.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../src/model/event.ts';
import { blankJob } from '../../src/model/evolve.ts';
import { feedEventsOf, FeedEntry } from '../../src/store/feed-entry.ts';
import { lineOf } from '../../src/store/row.ts';

const jobs = [1, 2, 3, 4].map((id) =>
  blankJob({
    id, kind: 'run', type: id > 3 ? 'other "type"' : 'type', def: [null, 'a "b"', 'c'][id % 3] ?? null, parent: id > 2 ? 9 : null, key: null, created: 0,
    gate: null, unique: null, policy: {}, tags: null, input: 'null', tick: null, follows: null, typeVersion: 1,
  }),
);

test('for any commits, each job gets its own events in order', () => {
  const told = fc.array(fc.record({ job: fc.integer({ min: 0, max: 3 }), skip: fc.boolean() }), { maxLength: 40 });
  fc.assert(
    fc.property(told, (tellings) => {
      const feed = new FeedEntry();
      const histories = jobs.map((): Event[] => []);
      for (const { job, skip } of tellings) {
        const history = histories[job]!;
        const event: Event = { n: (history.at(-1)?.n ?? 0) + (skip ? 2 : 1), at: 5, by: 'me', kind: 'resumed', due: 7 };
        history.push(event);
        feed.add(jobs[job]!, lineOf([event]));
      }
      const heard = feedEventsOf(feed.text);
      jobs.forEach(({ id, kind, type, def, parent }, index) => {
        const own = heard.filter(({ job }) => job === id);
        expect(own).toEqual(histories[index]!.map((event) => ({ job: id, kind, type, def, parent, event })));
      });
      expect(heard).toHaveLength(tellings.length);
    }),
  );
});

test('an entry of a version that did not store definitions can be read', () => {
  const event = { n: 1, at: 5, by: 'me', kind: 'freed' };
  const text = JSON.stringify([{ kind: 'run', type: 'mail', parent: null, jobs: [1, 2], events: [event] }]);
  expect(feedEventsOf(text)).toEqual([1, 2].map((job) => ({ job, kind: 'run', type: 'mail', def: null, parent: null, event })));
});

test('equal events of many jobs are stored once, whatever their definitions', () => {
  const feed = new FeedEntry();
  const line = lineOf([{ n: 1, at: 5, by: 'me', kind: 'resumed', due: 7 }]);
  for (const job of jobs.slice(0, 2)) feed.add(job, line);
  expect(feed.text.split('resumed')).toHaveLength(2);
});

test.each([[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])(
  'the second change of a job stays behind its first (%i, %i, %i)',
  (ahead, twice, other) => {
    const feed = new FeedEntry();
    const lineNumbered = (n: number): string => lineOf([{ n, at: 5, by: 'me', kind: 'resumed', due: 7 }]);
    const changes = [[ahead, 2], [twice, 1], [other, 1], [twice, 2], [other, 2]] as const;
    for (const [id, n] of changes) feed.add({ ...jobs[0]!, id }, lineNumbered(n));
    const heard = feedEventsOf(feed.text);
    for (const id of [twice, other]) expect(heard.filter(({ job }) => job === id).map(({ event }) => event.n)).toEqual([1, 2]);
  },
);
