// Pauses on PostgreSQL: every kind of claim takes the lock for which the answer of a pause waits, before its snapshot.
import type pg from 'pg';
import { expect, test } from 'vitest';
import { never } from '../../../src/model/definition.ts';
import { gateText } from '../../../src/model/gate.ts';
import type { PauseContent } from '../../../src/model/pause.ts';
import { spreadOver } from '../../../src/model/spread.ts';
import { createLimit, pauseLimit, readLimit, resumeLimit } from '../../../src/jobs/limits.ts';
import { endPause, pause } from '../../../src/jobs/pauses.ts';
import { readLimitSpreads } from '../../../src/jobs/spreads.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import type { ClaimRequest } from '../../../src/store/store.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { born, calls, claimed, connect, decided, freshStore, made, many, openStore } from './ground.ts';

const ada = { by: 'ada', why: 'the bank is down' };
const charges: ClaimRequest = { kinds: ['run'], names: { exact: ['charge'] }, limit: 10 };
const target = { type: 'charge', key: null };

/** How many transactions wait for a lock of another connection. */
async function blocked(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  return rows[0]!.count;
}

/** Holds up a claim while `held` is locked, and returns whether a pause that was written meanwhile waited for it. */
async function waitsFor(
  { url, store }: { readonly url: string; readonly store: PostgresStore },
  lock: string,
  claim: () => Promise<unknown>,
): Promise<boolean> {
  const [holder, viewer] = [await connect(url), await connect(url)];
  await holder.query('begin');
  await holder.query(lock);
  const claiming = claim();
  await expect.poll(() => blocked(viewer), { timeout: 30_000 }).toBe(1);
  let isOver = false;
  const waiting = store.awaitClaims().then(() => {
    isOver = true;
  });
  // A wait that does not know of the claim ends after one statement.
  for (let turns = 0; turns < 5; turns += 1) await viewer.query('select 1');
  const wasOver = isOver;
  await holder.query('rollback');
  await Promise.all([claiming, waiting]);
  return !wasOver;
}

/** A clock that jumps when it has been read some times. */
class JumpingClock extends VirtualClock {
  #readings = Infinity;
  #ms = 0;

  get hasJumped(): boolean {
    return this.#readings < 0;
  }

  jumpAfter(readings: number, ms: number): void {
    this.#readings = readings;
    this.#ms = ms;
  }

  override now(): number {
    if (this.#readings-- === 0) this.jump(this.#ms);
    return super.now();
  }
}

test('a claim that was under way before the pause is waited for', async () => {
  const world = await freshStore();
  const gate = gateText({ type: 'charge', def: null, key: 'acme', leaderOnly: false });
  await made(world.store, ...many(3, { type: 'charge', gate }));
  const other = openStore(world.url);
  const lock = `select pg_advisory_xact_lock(hashtextextended('stint "stint" gates', 0))`;
  expect(await waitsFor(world, lock, () => claimed(other, charges))).toBe(true);
});

test('a claim by a hint is waited for', async () => {
  const { url, store } = await freshStore({ notify: true });
  const other = openStore(url, { notify: true });
  const heard = calls(other);
  await heard();
  expect(await claimed(other, charges)).toEqual([]);
  await made(store, { type: 'charge' });
  await heard();
  const lock = 'lock table stint.feed in access exclusive mode';
  expect(await waitsFor({ url, store }, lock, () => claimed(other, charges))).toBe(true);
});

test('a claim in the commit that creates the job is waited for', async () => {
  const world = await freshStore();
  const [change] = await born(world.store, { type: 'charge' });
  const taking = { do: 'claim', holder: 'h', until: null, parentCancelled: false } as const;
  const started = decided(change!.after, taking, world.store.now());
  const changes = [{ before: null, after: started.after, events: [...change!.events, ...started.events] }];
  const lock = 'lock table stint.feed in access exclusive mode';
  expect(await waitsFor(world, lock, () => world.store.commit({ changes }))).toBe(true);
});

test('a limit that is resumed with a spread stays paused while a claim may not have seen the spread', async () => {
  const { url, store } = await freshStore();
  await createLimit(store, { name: 'bank', keyed: false, override: { concurrency: 100 } }, ada);
  const uses = [{ name: 'bank', key: null, cost: 1 }];
  await made(store, ...many(3, { type: 'charge', gate: gateText({ type: 'charge', def: null, key: null, leaderOnly: false, uses }) }));
  await pauseLimit(store, 'bank', null, ada);
  const claim = await connect(url);
  await claim.query('begin');
  await claim.query('select from stint.claim_barrier where false for key share');
  const resuming = resumeLimit(store, 'bank', ada, 60_000);
  await expect.poll(async () => (await readLimitSpreads(store, ['bank'])).size, { timeout: 30_000 }).toBe(1);
  // A resume that does not wait ends the pause after a few statements.
  for (let turns = 0; turns < 20; turns += 1) await claim.query('select 1');
  expect((await readLimit(store, 'bank'))!.paused).toMatchObject(ada);
  await claim.query('rollback');
  await resuming;
  expect((await readLimit(store, 'bank'))!.paused).toBeUndefined();
  expect(await claimed(store, charges)).toHaveLength(1);
});

test.each([
  ['free jobs', null],
  ['jobs at gates', gateText({ type: 'charge', def: null, key: null, leaderOnly: false, typeMax: 1_000 })],
])('a spread of %s that ends between two statements of a claim gives each job to it once', async (_title, gate) => {
  const clock = new JumpingClock(1_800_000_000_000);
  const { store } = await freshStore({ clock });
  for (let readings = 0, isAcross = true; isAcross; readings += 1) {
    clock.jumpAfter(Infinity, 0);
    const jobs = await made(store, ...many(6, { type: 'charge', gate }));
    const parts = await store.divideWaiting(target, 3);
    const spread = spreadOver(1_000, parts, { by: 'ada', now: clock.now() })!;
    const content = { by: 'ada', why: null, since: spread.from, confirmed: null, spread } satisfies PauseContent;
    await made(store, { kind: 'pause', type: 'charge', due: spread.until, input: JSON.stringify(content) });
    // The store learns of the spread, and expects it in the next claim.
    const taken = await claimed(store, { ...charges, limit: 1 });
    clock.jump(999);
    clock.jumpAfter(readings, 1);
    taken.push(...(await claimed(store, charges)));
    isAcross = clock.hasJumped;
    clock.jumpAfter(0, 1);
    taken.push(...(await claimed(store, charges)));
    expect(taken.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
  }
});

test('writes that claim nothing are not waited for, and neither is a backup', async () => {
  const { url, store } = await freshStore();
  const [client, backup] = [await connect(url), await connect(url)];
  await client.query('begin');
  await store.within(client).commit({ changes: await born(store, { type: 'charge' }, { type: 'mail' }) });
  await backup.query('begin');
  await backup.query('lock table stint.claim_barrier in access share mode');
  await store.awaitClaims();
  await client.query('commit');
});

test('a hint does not start a job of a paused type', async () => {
  const { url, store } = await freshStore({ notify: true });
  const other = openStore(url, { notify: true });
  const heard = calls(other);
  await heard();
  expect(await claimed(other, charges)).toEqual([]);
  const job = { type: 'charge', kind: 'pause', due: never, input: '{}' } as const;
  await openStore(url).commit({ changes: await born(store, job) });
  await made(store, { type: 'charge' });
  await heard();
  expect(await claimed(other, charges)).toEqual([]);
});

test('of a thousand claims or more that race with ten pauses, none takes a job after the answer', async () => {
  const { url, store } = await freshStore();
  await made(store, ...many(2_000, { type: 'charge' }));
  const racers = Array.from({ length: 4 }, () => openStore(url));
  let answered = 0;
  let late = 0;
  let taken = 0;
  let claims = 0;
  let rounds = 0;
  const isOver = (): boolean => claims >= 1_000 && rounds >= 10;
  const claimsGoOn = async (count: number): Promise<void> => {
    for (const until = claims + count; claims < until && !isOver();) await new Promise(setImmediate);
  };
  const race = async (racer: PostgresStore): Promise<void> => {
    while (!isOver()) {
      claims += 1;
      const before = answered;
      const jobs = await claimed(racer, { ...charges, limit: 1 });
      taken += jobs.length;
      // The type was paused when the claim began, and has not been resumed since.
      if (before % 2 === 1 && before === answered) late += jobs.length;
    }
  };
  const racing = Promise.all(racers.flatMap((racer) => [race(racer), race(racer)]));
  for (; !isOver(); rounds += 1) {
    await pause(store, target, null, ada);
    answered += 1;
    const running = await store.count({ kinds: ['run'], standings: ['running'] });
    await claimsGoOn(20);
    expect(await store.count({ kinds: ['run'], standings: ['running'] })).toEqual(running);
    answered += 1;
    await endPause(store, target, ada);
    await claimsGoOn(20);
  }
  await racing;
  expect(late).toBe(0);
  expect(taken).toBeGreaterThan(50);
});
