// Looking at jobs: found by filters, page by page, counted, with their histories and the feed of all.
import { describe, expect } from 'vitest';
import type { Job } from '../../src/model/job.ts';
import type { Query } from '../../src/store/query.ts';
import type { FeedEvent } from '../../src/store/store.ts';
import { turn } from '../../src/time/clock.ts';
import { storesOfRun } from '../support/stores.ts';
import { broken, codeOf, minute, startOfTime, tester, testOn, type World } from './world.ts';

/** A job of each standing, among others, by name. */
async function variety(world: World): Promise<Record<string, Job>> {
  const waiting = await world.create({
    type: 'mail',
    def: 'daily',
    key: 'Key-1',
    tags: { tenant: 'acme', region: 'eu' },
    input: { to: 'ada', n: 1 },
  });
  const later = await world.create({
    type: 'mail.bulk',
    due: startOfTime + minute,
    tags: { tenant: 'acme' },
    input: { to: 'bob', deep: { flag: true } },
  });
  const paused = await world.jobs.pause(
    (await world.create({ type: 'report', kind: 'bedrock', input: { to: null } })).id,
    tester,
  );
  await world.clock.advance(10);
  const running = await world.running({ type: 'import', tags: { tenant: '100%' } });
  const succeeded = await world.ended({ type: 'export', def: 'nightly', input: [{ to: 'ada' }] });
  const claimed = await world.running({ type: 'broken', tags: { note: 'Line_1' } });
  const failed = await world.jobs.fail(
    claimed,
    claimed.fence,
    { code: 'unknown', message: 'Disk FULL at 99%' },
    tester,
    false,
  );
  await world.clock.advance(10);
  const cancelled = await world.jobs.stop((await world.create({ type: 'mail' })).id, tester);
  return { waiting, later, paused, running, succeeded, failed, cancelled };
}

describe.each(storesOfRun)('finding on $name', (kind) => {
  const test = testOn(kind);

  const table: { title: string; query: Query; found: string[] }[] = [
    {
      title: 'no filter finds all',
      query: {},
      found: ['waiting', 'later', 'paused', 'running', 'succeeded', 'failed', 'cancelled'],
    },
    { title: 'by kind', query: { kinds: ['bedrock', 'task'] }, found: ['paused'] },
    { title: 'by no kind at all', query: { kinds: [] }, found: [] },
    { title: 'by exact types', query: { types: ['mail', 'export'] }, found: ['waiting', 'succeeded', 'cancelled'] },
    { title: 'by a pattern', query: { glob: 'mail*' }, found: ['waiting', 'later', 'cancelled'] },
    { title: 'by a pattern with a set', query: { glob: '[^r]?port' }, found: ['running', 'succeeded'] },
    { title: 'by a pattern in the middle', query: { glob: '*port' }, found: ['paused', 'running', 'succeeded'] },
    { title: 'by definition', query: { def: 'daily' }, found: ['waiting'] },
    {
      title: 'by standing, open',
      query: { standings: ['pending', 'running'] },
      found: ['waiting', 'later', 'running'],
    },
    { title: 'by standing, held', query: { standings: ['held'] }, found: ['paused'] },
    { title: 'by standing, ended', query: { standings: ['succeeded', 'failed'] }, found: ['succeeded', 'failed'] },
    { title: 'by standing, across', query: { standings: ['cancelled', 'held'] }, found: ['paused', 'cancelled'] },
    { title: 'by one tag', query: { tags: { tenant: 'acme' } }, found: ['waiting', 'later'] },
    { title: 'by all of several tags', query: { tags: { tenant: 'acme', region: 'eu' } }, found: ['waiting'] },
    {
      title: 'by a tag with a sign that means something in SQL',
      query: { tags: { tenant: '100%' } },
      found: ['running'],
    },
    { title: 'by a tag that is a part only', query: { tags: { tenant: 'acm' } }, found: [] },
    { title: 'by creation from', query: { createdFrom: startOfTime + 20 }, found: ['cancelled'] },
    { title: 'by creation before', query: { createdBefore: startOfTime + 10 }, found: ['waiting', 'later', 'paused'] },
    { title: 'by due time, of open jobs only', query: { dueBefore: startOfTime + 1 }, found: ['waiting', 'paused'] },
    { title: 'by a part of the error in whatever case', query: { error: 'disk full' }, found: ['failed'] },
    { title: 'by a part of the error with a sign of SQL', query: { error: '99%' }, found: ['failed'] },
    { title: 'by a sign of SQL alone, which is no wildcard', query: { error: '%k' }, found: [] },
    { title: 'by a text in the input', query: { input: { path: ['to'], equals: 'ada' } }, found: ['waiting'] },
    { title: 'by null in the input', query: { input: { path: ['to'], equals: null } }, found: ['paused'] },
    { title: 'by a number in the input', query: { input: { path: ['n'], equals: 1 } }, found: ['waiting'] },
    { title: 'by a number that is a text there', query: { input: { path: ['n'], equals: '1' } }, found: [] },
    {
      title: 'by a place deep in the input',
      query: { input: { path: ['deep', 'flag'], equals: true } },
      found: ['later'],
    },
    {
      title: 'by a place in a list of the input',
      query: { input: { path: ['0', 'to'], equals: 'ada' } },
      found: ['succeeded'],
    },
    {
      title: 'by a name of Object.prototype in the input',
      query: { input: { path: ['toString'], equals: null } },
      found: [],
    },
    { title: 'by text in the type', query: { text: 'MAIL' }, found: ['waiting', 'later', 'cancelled'] },
    { title: 'by text in the definition', query: { text: 'night' }, found: ['succeeded'] },
    { title: 'by text in the key', query: { text: 'key-1' }, found: ['waiting'] },
    { title: 'by text in the error', query: { text: 'full at' }, found: ['failed'] },
    { title: "by text in a tag's value", query: { text: 'line_1' }, found: ['failed'] },
    {
      title: 'by several at once',
      query: { glob: 'mail*', standings: ['pending'], tags: { region: 'eu' } },
      found: ['waiting'],
    },
    { title: 'by what would be SQL', query: { text: "' OR 1=1; --" }, found: [] },
    { title: 'only jobs without a parent', query: { parent: null, standings: ['running'] }, found: ['running'] },
  ];

  test.for(table)('$title', async ({ query, found }, { world }) => {
    const named = await variety(world);
    const names = new Map(Object.entries(named).map(([name, { id }]) => [id, name]));
    const { jobs, next } = await world.jobs.find(query, { order: 'oldest' });
    expect(jobs.map(({ id }) => names.get(id))).toEqual(found);
    expect(next).toBeNull();
    for (const job of jobs) expect(job).toEqual(await world.get(job));
    const counted = (await world.jobs.count(query)).reduce((sum, { count }) => sum + count, 0);
    expect(counted, 'counting means the same').toBe(found.length);
  });

  test('the tasks of a run, and none but these', async ({ world }) => {
    const [first, second] = [await world.family(2), await world.family(3)];
    expect((await world.jobs.find({ parent: second.run.id })).jobs.map(({ id }) => id)).toEqual(
      second.tasks.map(({ id }) => id).toReversed(),
    );
    expect((await world.jobs.find({ parent: null }, { order: 'oldest' })).jobs.map(({ id }) => id)).toEqual([
      first.run.id,
      second.run.id,
    ]);
    expect((await world.jobs.find({ parent: 4711 })).jobs).toEqual([]);
  });

  test('inputs with NUL, unpaired surrogates and huge numbers are stored, and break no search', async ({ world }) => {
    const inputs = [
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
      '{"a":1e300,"b":123456789012345678901234567890}',
      '"\\u0000"',
      '[]',
      'null',
      ' {"a":1} ',
    ];
    for (const inputText of inputs) {
      const job = await world.create({ inputText });
      expect((await world.get(job)).input).toBe(inputText);
    }
    expect((await world.jobs.find({ input: { path: ['a'], equals: 1 } })).jobs.map(({ input }) => input)).toEqual([
      ' {"a":1} ',
    ]);
    expect((await world.jobs.find({ input: { path: ['a'], equals: 1e300 } })).jobs).toHaveLength(1);
  });
});

describe.each(storesOfRun)('pages on $name', (kind) => {
  const test = testOn(kind);

  test.for(['newest', 'oldest'] as const)('%s first, page by page, each job once', async (order, { world }) => {
    const created = await world.jobs.createMany(Array(25).fill({ type: 'plain' }), 'producer');
    // Some of them have ended, and lie elsewhere.
    for (const job of (await world.claim({ limit: 12 })).filter((_, at) => at % 2 === 0))
      await world.jobs.succeed(job, job.fence, tester);
    const ids: number[] = [];
    const sizes: number[] = [];
    for (let after: number | undefined; ; ) {
      const page = await world.jobs.find({}, { order, limit: 10, ...(after === undefined ? {} : { after }) });
      ids.push(...page.jobs.map(({ id }) => id));
      sizes.push(page.jobs.length);
      if (page.next === null) break;
      after = page.next;
    }
    const expected = created.map(({ id }) => id);
    expect(ids).toEqual(order === 'oldest' ? expected : expected.toReversed());
    expect(sizes).toEqual([10, 10, 5]);
  });

  test('a page that is just full and the last says so', async ({ world }) => {
    await world.jobs.createMany(Array(10).fill({ type: 'plain' }), 'producer');
    expect((await world.jobs.find({}, { limit: 10 })).next).toBeNull();
    expect((await world.jobs.find({}, { limit: 9 })).next).not.toBeNull();
    expect((await world.jobs.find({}, { limit: 10, after: 1, order: 'newest' })).jobs).toEqual([]);
  });

  test('jobs created and ended while one turns the pages neither repeat nor hide another', async ({ world }) => {
    const before = (await world.jobs.createMany(Array(20).fill({ type: 'plain' }), 'producer')).map(({ id }) => id);
    for (const order of ['newest', 'oldest'] as const) {
      const seen: number[] = [];
      for (let after: number | undefined; ; ) {
        const page = await world.jobs.find({}, { order, limit: 3, ...(after === undefined ? {} : { after }) });
        seen.push(...page.jobs.map(({ id }) => id));
        await world.create({ type: 'new' });
        const [job] = await world.claim({ names: { exact: ['plain'] } });
        if (job) await world.jobs.succeed(job, job.fence, tester);
        // The new ones never end when the oldest come first.
        if (page.next === null || seen.length > 100) break;
        after = page.next;
        if (before.every((id) => seen.includes(id))) break;
      }
      expect(new Set(seen).size, 'none twice').toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(before));
    }
  });

  test('the default page has a hundred jobs', async ({ world }) => {
    await world.jobs.createMany(Array(101).fill({ type: 'plain' }), 'producer');
    expect((await world.jobs.find({})).jobs).toHaveLength(100);
  });
});

describe.each(storesOfRun)('counting on $name', (kind) => {
  const test = testOn(kind);

  test('jobs are counted by kind, type and standing', async ({ world }) => {
    await world.jobs.createMany(
      [...Array(3).fill({ type: 'a' }), { type: 'a', kind: 'bedrock' }, { type: 'b' }],
      'producer',
    );
    const [job] = await world.claim({ names: { exact: ['a'] }, kinds: ['run'] });
    await world.jobs.succeed(job!, job!.fence, tester);
    const tallies = [...(await world.jobs.count())].sort((x, y) => JSON.stringify(x) < JSON.stringify(y) ? -1 : 1);
    expect(tallies).toEqual([
      { kind: 'bedrock', type: 'a', standing: 'pending', count: 1 },
      { kind: 'run', type: 'a', standing: 'pending', count: 2 },
      { kind: 'run', type: 'a', standing: 'succeeded', count: 1 },
      { kind: 'run', type: 'b', standing: 'pending', count: 1 },
    ]);
    expect(await world.jobs.count({ standings: ['failed'] })).toEqual([]);
  });
});

describe.each(storesOfRun)('histories on $name', (kind) => {
  const test = testOn(kind);

  test('a history can be read from a number on, and in pieces', async ({ world }) => {
    const job = await world.running();
    await world.jobs.succeed(job, job.fence, tester);
    const all = await world.jobs.history(job.id);
    expect(all.map(({ n, kind: what }) => [n, what])).toEqual([[1, 'created'], [2, 'claimed'], [3, 'succeeded']]);
    expect(await world.jobs.history(job.id, 2)).toEqual(all.slice(1));
    expect(await world.jobs.history(job.id, 2, 1)).toEqual(all.slice(1, 2));
    expect(await world.jobs.history(job.id, 4)).toEqual([]);
  });

  test('a long history has no gap, wherever it is read from', async ({ world }) => {
    const job = await world.create();
    for (let round = 0; round < 60; round += 1) {
      const claimed = await world.claimOne(job);
      await world.jobs.release(claimed, claimed.fence, tester);
    }
    const all = await world.jobs.history(job.id);
    expect(all).toHaveLength(121);
    for (const from of [1, 31, 32, 33, 64, 65, 100, 121])
      expect(await world.jobs.history(job.id, from)).toEqual(all.slice(from - 1));
    expect(await world.jobs.history(job.id, 30, 5)).toEqual(all.slice(29, 34));
  });
});

describe.each(storesOfRun)('the feed on $name', (kind) => {
  const test = testOn(kind);

  async function readAll(
    world: World,
    from: string | null,
    limit: number,
  ): Promise<{ events: FeedEvent[]; cursor: string }> {
    const events: FeedEvent[] = [];
    for (let cursor = from; ;) {
      const feed = await world.jobs.events(cursor, limit);
      expect(feed.events.length).toBeLessThanOrEqual(limit);
      events.push(...feed.events);
      if (feed.events.length === 0) return { events, cursor: feed.cursor };
      cursor = feed.cursor;
    }
  }

  test('the feed has every event, with its job', async ({ world }) => {
    const { run, tasks } = await world.family(1, { type: 'parent type' });
    await world.jobs.cancel(tasks[0]!.id, tester);
    const { events } = await readAll(world, null, 100);
    expect(events.filter(({ job }) => job === tasks[0]!.id)).toEqual([
      {
        job: tasks[0]!.id,
        kind: 'task',
        type: 'task',
        def: null,
        parent: run.id,
        event: expect.objectContaining({ n: 1, kind: 'created' }),
      },
      {
        job: tasks[0]!.id,
        kind: 'task',
        type: 'task',
        def: null,
        parent: run.id,
        event: expect.objectContaining({ n: 2, kind: 'cancelled', by: 'tester' }),
      },
    ]);
    expect(events.filter(({ job }) => job === run.id).map(({ event }) => event.kind)).toEqual([
      'created',
      'claimed',
      'planned',
      'settled',
    ]);
  });

  test.for([1, 2, 3, 1000])('S29: in pages of %i no event is repeated or left out', async (limit, { world }) => {
    await world.jobs.createMany(Array(5).fill({ type: 'plain' }), 'producer');
    for (const job of await world.claim({ limit: 5 })) await world.jobs.succeed(job, job.fence, tester);
    const { events } = await readAll(world, null, limit);
    expect(events).toHaveLength(15);
    expect(new Set(events.map(({ job, event }) => `${job}/${event.n}`)).size).toBe(15);
  });

  test('a reader at the end gets later events only', async ({ world }) => {
    await world.create();
    const { cursor } = await readAll(world, null, 10);
    expect((await world.jobs.events(cursor)).events).toEqual([]);
    const job = await world.create();
    expect((await world.jobs.events(cursor)).events.map(({ job: id }) => id)).toEqual([job.id]);
    const end = await world.store.feedEnd();
    const later = await world.create();
    expect((await world.jobs.events(end)).events.map(({ job: id }) => id)).toEqual([later.id]);
  });

  test('the first cursor of an empty feed gets all events', async ({ world }) => {
    const { cursor, events } = await world.jobs.events(null);
    expect(events).toEqual([]);
    const job = await world.create();
    expect((await world.jobs.events(cursor)).events.map(({ job: id }) => id)).toEqual([job.id]);
  });

  test('refused and conflicting changes are not in the feed', async ({ world }) => {
    const job = await world.running();
    const { cursor } = await readAll(world, null, 10);
    await codeOf(world.jobs.succeed(job, 99, tester));
    await codeOf(world.jobs.retry(job.id, tester));
    await world.ask({ unique: { key: 'k' } });
    await world.ask({ unique: { key: 'k' } });
    const told = (await world.jobs.events(cursor)).events.map(({ event }) => event.kind);
    expect(told).toEqual(['created']);
  });

  test('S29: readers that keep up with many writers miss nothing', async ({ world }) => {
    const other = await world.again();
    const seen = new Map<number, number[]>();
    let cursor: string | null = null;
    let isWriting = true;
    const read = async (): Promise<void> => {
      for (;;) {
        const wasWriting = isWriting;
        const feed = await world.jobs.events(cursor, 5);
        for (const { job, event } of feed.events) seen.set(job, [...(seen.get(job) ?? []), event.n]);
        cursor = feed.cursor;
        if (!wasWriting && feed.events.length === 0) return;
        await turn();
      }
    };
    const write = async (at: number): Promise<void> => {
      const { id } = await (at % 2 === 0 ? world.jobs : other).create({ type: `writer ${at}` }, 'producer');
      const [job] = await (at % 2 === 0 ? other : world.jobs).claim({
        holder: 'worker', leaseMs: minute, kinds: ['run'], names: { exact: [`writer ${at}`] }, limit: 1,
      });
      expect(job!.id).toBe(id);
      await world.jobs.fail(job!, job!.fence, broken, tester, false);
    };
    const reading = read();
    await Promise.all(Array.from({ length: 20 }, (_, at) => write(at)));
    isWriting = false;
    await reading;
    expect([...seen.values()]).toEqual(Array(20).fill([1, 2, 3]));
  });
});
