// A reader whose cursor is ahead of the feed, because a backup or a new process has replaced the store.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { World } from '../../src/conformance/world.ts';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
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

test('a cursor whose event is not in the restored SQLite file skips nothing, even if the feed has passed it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stint-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, backup] = [join(folder, 'jobs.db'), join(folder, 'backup.db')];
  const former = new Jobs(new SqliteStore(path));
  await former.store.migrate();
  await former.createMany([{ type: 'kept' }], 'test');
  await former.store.backUp!(backup);
  for (let count = 0; count < 3; count += 1) await former.createMany([{ type: 'lost' }], 'test');
  const { cursor } = await former.store.eventsAfter(null, 10);
  await former.store.close();

  const restored = new Jobs(new SqliteStore(backup));
  for (let count = 0; count < 5; count += 1) await restored.createMany([{ type: `later ${count}` }], 'test');
  const { events } = await restored.store.eventsAfter(cursor, 10);
  expect(events.map(({ type }) => type)).toEqual(['kept', 'later 0', 'later 1', 'later 2', 'later 3', 'later 4']);
  await restored.store.close();
});
