// A reader whose cursor is ahead of the feed, because a backup or a new process has replaced the store.
import { expect, test } from 'vitest';
import { World } from '../../src/conformance/world.ts';
import { stores } from '../support/stores.ts';

const aheadOf: Readonly<Record<string, string>> = { memory: '50', SQLite: '50.0' };

test.each(stores.filter(({ name }) => name in aheadOf))('a cursor ahead of the feed continues at its end, on $name', async (kind) => {
  const world = await World.open((clock) => kind.open(clock));
  await world.create();
  const { events, cursor } = await world.store.eventsAfter(aheadOf[kind.name]!, 10);
  expect(events).toEqual([]);
  const job = await world.create();
  expect((await world.store.eventsAfter(cursor, 10)).events.map(({ job: id }) => id)).toEqual([job.id]);
  await world.close();
});
