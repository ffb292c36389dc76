// Event streams: no event is lost or sent twice; slow readers are disconnected and can resume.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventFeed } from '../../src/http/events/feed.ts';
import { feedPageMax, parsePosition, positionOf } from '../../src/store/feed-position.ts';
import type { HttpServices } from '../../src/http/handler.ts';
import { StreamBuffer, bufferedMax } from '../../src/http/events/stream-buffer.ts';
import { changes, sentMax } from '../../src/http/events/stream.ts';
import { silent } from '../../src/logger.ts';
import { systemClock } from '../../src/time/clock.ts';
import { api, as, ended, newToken, records, until, world, type World } from './world.ts';
import { slowness, waitMs } from '../support/patience.ts';

let server: World;
beforeAll(async () => {
  server = await world();
});
afterAll(() => server.close());

interface Told {
  readonly event: string;
  readonly id: string | null;
  // oxlint-disable-next-line typescript/no-explicit-any -- what is told is what the tests look at
  readonly data: any;
}

/** Reads a stream as a browser does. */
class Source {
  readonly told: Told[] = [];
  lastId: string | null;
  status = 0;
  #leave = new AbortController();
  over: Promise<void> = Promise.resolve();

  constructor(lastId: string | null = null) {
    this.lastId = lastId;
  }

  async open(path: string, on = server, headers: Record<string, string> = {}): Promise<this> {
    this.#leave = new AbortController();
    const last: Record<string, string> = this.lastId === null ? {} : { 'last-event-id': this.lastId };
    const request = { signal: this.#leave.signal, headers: { ...headers, ...last } };
    // Like an EventSource, which connects again if its first connection is lost.
    const response = await fetch(on.url + api + path, request).catch(() => fetch(on.url + api + path, request));
    this.status = response.status;
    if (response.status !== 200) return this;
    this.over = this.#read(response.body!).catch(() => {});
    return this;
  }

  close(): void {
    this.#leave.abort();
  }

  async until(isEnough: (told: readonly Told[]) => boolean, withinMs = waitMs): Promise<void> {
    const deadline = performance.now() + withinMs;
    while (!isEnough(this.told)) {
      if (performance.now() > deadline) throw new Error(`not told in time: ${JSON.stringify(this.told.slice(-3))}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        this.#take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  #take(block: string): void {
    const fields = new Map(block.split('\n').filter((line) => !line.startsWith(':')).map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }));
    this.lastId = fields.get('id') ?? this.lastId;
    if (fields.has('data')) this.told.push({ event: fields.get('event')!, id: fields.get('id') ?? null, data: JSON.parse(fields.get('data')!) });
  }
}

const keyOf = ({ data }: Told): string => `${data.job} ${data.event.n}`;
const create = async (on: World = server): Promise<number> => (await on.post(`${api}/runs`, { type: 'echo' })).body.id as number;

const readers = Number(process.env['STINT_TEST_READERS'] ?? 50);

describe('the event stream', () => {
  test('sends every change as it happens', async () => {
    const source = await new Source().open('/stream');
    const id = await create();
    await source.until((told) => told.some(({ data }) => data.job === id && data.event.kind === 'succeeded'));
    const kinds = source.told.filter(({ data }) => data.job === id).map(({ data }) => data.event.kind);
    expect(kinds).toEqual(['created', 'claimed', 'succeeded']);
    expect(source.told.every(({ event, id: place }) => event === 'change' && place !== null)).toBe(true);
    source.close();
  });

  test('resumes exactly after the last position', async () => {
    const source = await new Source().open('/stream');
    const before = await create();
    await source.until((told) => told.some(({ data }) => data.job === before && data.event.kind === 'succeeded'));
    source.close();
    await source.over;
    const ids = await Promise.all(Array.from({ length: 40 }, () => create()));
    for (const id of ids) await ended(server, id);
    await source.open('/stream');
    await source.until((told) => ids.every((id) => told.some(({ data }) => data.job === id && data.event.kind === 'succeeded')));
    const keys = source.told.map(keyOf);
    expect(new Set(keys).size).toBe(keys.length);
    for (const id of ids) expect(keys.filter((key) => key.startsWith(`${id} `))).toEqual([`${id} 1`, `${id} 2`, `${id} 3`]);
    source.close();
  });

  test('resumes from the middle of a batch and from a position without events', async () => {
    const source = await new Source().open('/stream');
    const ids = await Promise.all(Array.from({ length: 10 }, () => create()));
    for (const id of ids) await ended(server, id);
    await source.until((told) => told.length >= 30);
    source.close();
    const middle = source.told[11]!;
    const second = await new Source(middle.id).open('/stream');
    await second.until((told) => told.length >= source.told.length - 12);
    expect(second.told.map(keyOf)).toEqual(source.told.slice(12).map(keyOf));
    second.close();
    const quiet = await new Source().open('/stream?type=nothing');
    while (quiet.lastId === null) await new Promise((resolve) => setTimeout(resolve, 5));
    quiet.close();
    const id = await create();
    const third = await new Source(quiet.lastId).open('/stream');
    await third.until((told) => told.some(({ data }) => data.job === id && data.event.n === 3));
    third.close();
  });

  test(`${readers} readers that reconnect get every event once`, async () => {
    const own = await world();
    const sources = await Promise.all(Array.from({ length: readers }, () => new Source().open('/stream', own)));
    for (const source of sources) while (source.lastId === null) await new Promise((resolve) => setTimeout(resolve, 5));
    const ids: number[] = [];
    for (let round = 0; round < 10; round++) {
      ids.push(...(await Promise.all(Array.from({ length: 20 }, () => create(own)))));
      // Every fifth of them is cut off and comes back.
      await Promise.all(sources.filter((_, index) => index % 5 === round % 5).map(async (source) => {
        source.close();
        await source.over;
        await source.open('/stream', own);
      }));
    }
    for (const id of ids) await ended(own, id);
    const expected = ids.flatMap((id) => [1, 2, 3].map((n) => `${id} ${n}`)).sort();
    for (const source of sources) {
      const isRun = ({ data }: Told): boolean => ids.includes(data.job as number);
      await source.until((told) => told.filter(isRun).length >= expected.length);
      expect(source.told.filter(isRun).map(keyOf).sort()).toEqual(expected);
      source.close();
    }
    await Promise.all(sources.map(({ over }) => over));
    await own.close();
  });

  test('sends only the requested types, kinds and runs', async () => {
    const other = await create();
    const { body } = await server.post(`${api}/runs`, { type: 'parts' });
    const source = await new Source().open(`/stream?run=${body.id}`);
    await ended(server, body.id);
    await ended(server, other);
    await create();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(source.told.every(({ data }) => data.job === body.id || data.parent === body.id)).toBe(true);
    source.close();
  });

  test.each(['nonsense', '~', 'x~1', '1.0~999999', "1.0';--~1"])('refuses the Last-Event-ID %s with 400', async (id) => {
    expect((await new Source(id).open('/stream')).status).toBe(400);
  });

  test('ends when the token of its reader expires', async () => {
    const expires = Date.now() + 2_000 * slowness;
    const short = newToken({ name: 'short', role: 'viewer', expires });
    const own = await world({ access: { tokens: [...records, short.record] } });
    const source = await new Source().open('/stream', own, { authorization: `Bearer ${short.token}` });
    expect(source.status).toBe(200);
    await until(() => Date.now() > expires);
    await own.post(`${api}/runs`, { type: 'echo' }, as('operator'));
    await source.over;
    expect(source.told).toEqual([]);
    await own.close();
  });

  test('hides secrets from readers who may not see them', async () => {
    const own = await world({ access: { tokens: records } });
    const source = await new Source().open('/stream', own, as('viewer').headers);
    await own.post(`${api}/runs`, { type: 'broken' }, as('operator'));
    await source.until((told) => told.some(({ data }) => data.event.kind === 'retried'));
    expect(JSON.stringify(source.told)).toContain('it broke');
    expect(JSON.stringify(source.told)).not.toContain('hunter2');
    source.close();
    await own.close();
  });
});

describe('the stream of one run', () => {
  test('sends the run, its events, progress and log, and ends with the run', async () => {
    const { body } = await server.post(`${api}/runs`, { type: 'echo', delay: '300ms' });
    const source = await new Source().open(`/runs/${body.id}/stream`);
    await source.over;
    const events = source.told.map(({ event }) => event);
    expect(events[0]).toBe('run');
    expect(events.at(-1)).toBe('end');
    expect(source.told.filter(({ event }) => event === 'event').map(({ data }) => data.kind)).toEqual(['created', 'claimed', 'succeeded']);
    const lines = source.told.filter(({ event }) => event === 'log').flatMap(({ data }) => data.lines);
    expect(lines).toMatchObject([{ n: 1, text: 'heard' }]);
    expect(source.told.findLast(({ event }) => event === 'run')?.data).toMatchObject({ id: body.id, standing: 'succeeded' });
    const again = await new Source('1').open(`/runs/${body.id}/stream`);
    await again.over;
    expect(again.told.some(({ event }) => event === 'log')).toBe(false);
  });

  test('of an unknown run is refused', async () => {
    expect((await new Source().open('/runs/424242/stream')).status).toBe(404);
  });
});

describe('the stream buffer', () => {
  const entry = { position: 'x~1', event: {} as never };

  test('is overrun at its limit and holds no more', async () => {
    const reader = new StreamBuffer(systemClock, new AbortController().signal);
    for (let n = 0; n < bufferedMax; n++) reader.push(entry);
    expect(reader.isOverrun).toBe(false);
    for (let n = 0; n < 10; n++) reader.push(entry);
    expect(reader.isOverrun).toBe(true);
    expect(await reader.take(0)).toHaveLength(bufferedMax);
  });

  test('wakes its reader on an event and on disconnect', async () => {
    const leave = new AbortController();
    const reader = new StreamBuffer(systemClock, leave.signal);
    const taken = reader.take(60_000);
    reader.push(entry);
    expect(await taken).toEqual([entry]);
    const nothing = reader.take(60_000);
    leave.abort();
    expect(await nothing).toEqual([]);
  });
});

describe('a slow connection', () => {
  /** As many events as there are, without a store. */
  function endless(
  ): { desk: HttpServices; happen: (count: number) => void; total: () => number; close: () => Promise<void> } {
    let count = 0;
    const read = async (cursor: string | null, limit: number) => {
      const from = Number(cursor ?? 0);
      const to = Math.min(count, from + limit);
      const events = Array.from({ length: to - from }, (_, index) => ({
        job: 1, kind: 'run' as const, type: 'x', def: null, parent: null, event: { n: from + index + 1, at: 0, by: 'x', kind: 'freed' as const },
      }));
      return { events, cursor: String(to) };
    };
    const store = { feedEnd: async () => String(count), onWake: () => () => {} };
    const feed = new EventFeed({ store, read, readMemory: async () =>
      ({ events: [], cursor: '0' }), clock: systemClock, logger: silent });
    const services = { feed, clock: systemClock, engine: { jobs: { events: read } } } as unknown as HttpServices;
    return { desk: services, happen: (more) => void (count += more), total: () => count, close: () => feed.close() };
  }

  const numbersIn = (text: string): number[] => [...text.matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
  /** The positions in the text, as numbers of events: the cursors of `endless` are numbers. */
  const placesIn = (text: string): number[] => [...text.matchAll(/^id: (.+)$/gm)].map(([, place]) => {
    const { cursor, read } = parsePosition(place!)!;
    return Number(cursor) + read;
  });
  const call = { principal: { name: 'x', role: 'viewer', isLocal: false, visibility: 'full', expires: null } } as const;

  test('is closed at its limit and misses nothing when it reconnects', async () => {
    const { desk: services, happen, total, close } = endless();
    const everything = { after: null, matches: () => true };
    const slow = changes(services, everything, call, new AbortController().signal);
    let text = (await slow.next()).value!;
    expect(services.feed.readers).toBe(1);
    happen(3 * bufferedMax);
    while (services.feed.position !== positionOf(String(total()), 0)) {
      services.feed.poll();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    for await (const piece of slow) text += piece;
    expect(text).toContain('event: dropped');
    expect(numbersIn(text)).toHaveLength(bufferedMax);
    expect(services.feed.readers).toBe(0);
    const place = [...text.matchAll(/^id: (.+)$/gm)].at(-1)![1]!;
    const leave = new AbortController();
    const back = changes(services, { after: place, matches: () => true }, call, leave.signal);
    let rest = '';
    while (numbersIn(rest).length < 2 * bufferedMax) rest += (await back.next()).value!;
    expect([...numbersIn(text), ...numbersIn(rest)]).toEqual(Array.from({ length: total() }, (_, index) => index + 1));
    leave.abort();
    await back.return();
    await close();
  });

  test('gets no event twice when it switches from catching up to the shared feed', async () => {
    const { desk: services, happen, total, close } = endless();
    await services.feed.start();
    const leave = new AbortController();
    // The shared reader has not read these events yet.
    happen(1200);
    const reader = changes(services, { after: '0~7', matches: () => true }, call, leave.signal);
    let text = '';
    while (numbersIn(text).length < 1193) text += (await reader.next()).value!;
    happen(300);
    services.feed.poll();
    while (numbersIn(text).length < total() - 7) text += (await reader.next()).value!;
    expect(numbersIn(text)).toEqual(Array.from({ length: total() - 7 }, (_, index) => index + 8));
    const places = placesIn(text);
    expect(places, 'no position goes back: a client that reconnects there would get events twice').toEqual(
      places.toSorted((a, b) => a - b),
    );
    leave.abort();
    await reader.return();
    await close();
  });

  test('gets no event twice when it catches up more slowly than events happen', async () => {
    const { desk: services, happen, total, close } = endless();
    await services.feed.start();
    happen(10);
    const reader = changes(services, { after: '0~0', matches: () => true }, call, new AbortController().signal);
    let text = '';
    while (numbersIn(text).length < 10) text += (await reader.next()).value!;
    // The reader follows the shared feed from its next read on; more happens than it remembers to have sent.
    happen(2 * sentMax);
    for await (const piece of reader) {
      text += piece;
      while (services.feed.position !== positionOf(String(total()), 0)) {
        services.feed.poll();
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
    expect(text).toContain('event: dropped');
    expect(numbersIn(text)).toEqual(Array.from({ length: numbersIn(text).length }, (_, index) => index + 1));
    await close();
  });
});

describe('the event feed', () => {
  test('continues after an outage of the store without a gap', async () => {
    let isOut = false;
    const source = await world();
    const { jobs } = source.engine;
    const warned: string[] = [];
    const feed = new EventFeed({
      store: jobs.store,
      read: (cursor, limit) => (isOut ? Promise.reject(new Error('out')) : jobs.events(cursor, limit)),
      readMemory: (cursor, limit) => source.engine.eventsInMemory(cursor, limit),
      clock: systemClock,
      logger: { ...silent, warn: (text) => void warned.push(text) },
    });
    await feed.start();
    const heard: number[] = [];
    feed.follow(({ event }) => void heard.push(event.job));
    isOut = true;
    const id = await create(source);
    await ended(source, id);
    isOut = false;
    while (heard.filter((job) => job === id).length < 3) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(warned).toHaveLength(1);
    await feed.close();
    await source.close();
  });

  test('continues to catch up where a failed start stopped, and delivers every event once', async () => {
    const source = await world({ isIdle: true });
    const { jobs } = source.engine;
    const drafts = Array.from({ length: 3 * feedPageMax }, () => ({ type: 'plain' }));
    const created = await jobs.createMany(drafts, 'test');
    let reads = 0;
    const feed = new EventFeed({
      store: jobs.store,
      read: (cursor, limit) => (reads++ === 1 ? Promise.reject(new Error('out')) : jobs.events(cursor, limit)),
      readMemory: (cursor, limit) => source.engine.eventsInMemory(cursor, limit),
      catchUpFrom: () => Promise.resolve(null),
      clock: systemClock,
      logger: silent,
    });
    const heard: number[] = [];
    feed.follow(({ event }) => void heard.push(event.job));
    await expect(feed.start()).rejects.toThrow('out');
    expect(feed.isLive).toBe(false);
    await feed.start();
    expect(feed.isLive).toBe(true);
    const ids = created.map(({ job }) => job!.id);
    expect(heard.filter((id) => ids.includes(id))).toEqual(ids);
    await feed.close();
    await source.close();
  });

  test('parses every position that it writes', () => {
    for (const [cursor, read] of [['12.3', 0], ['a~b', 500], ['0/1:2', 7]] as const) {
      expect(parsePosition(positionOf(cursor, read))).toEqual({ cursor, read });
    }
    for (const text of ['', '~', 'a~', '~1', 'a~x', 'a~501', 'a b~1']) expect(parsePosition(text)).toBeNull();
  });
});
