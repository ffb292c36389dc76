// Connections whose peer is gone: they stay open and carry nothing. The store notices, and retries what it had sent.
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';
import { PostgresStore, type PostgresOptions } from '../../../src/store/postgres/store.ts';
import { detail } from '../../support/detail.ts';
import { migratedDatabase } from '../../support/fresh-database.ts';
import { slowness, waitMs } from '../../support/patience.ts';
import { openProxy, type Proxy } from '../../support/proxy.ts';
import { born, claimed, made, many } from './ground.ts';

/** A database, and a store that reaches it through a proxy. Concurrent tests cannot use the hooks of ground.ts. */
class World implements AsyncDisposable {
  readonly url: string;
  readonly proxy: Proxy;
  readonly store: PostgresStore;
  readonly direct: PostgresStore;
  readonly #resources = new AsyncDisposableStack();

  private constructor(url: string, proxy: Proxy, options: PostgresOptions) {
    this.url = url;
    this.direct = this.open(url);
    this.proxy = this.#resources.adopt(proxy, () => proxy.close());
    this.store = this.open(proxy.url, { silenceMs: 500, ...options });
  }

  static async create(options: PostgresOptions = {}): Promise<World> {
    const url = await migratedDatabase();
    const world = new World(url, await openProxy(url), options);
    await world.store.load([1]);
    return world;
  }

  open(url: string, options: PostgresOptions = {}): PostgresStore {
    const store = new PostgresStore(url, { notify: false, ...options });
    return this.#resources.adopt(store, () => store.close());
  }

  /** A plain connection beside the stores. */
  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    client.on('error', () => {});
    await client.connect();
    return this.#resources.adopt(client, () => client.end());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

const backends = `select pid, wait_event_type from pg_stat_activity
  where application_name = 'stint' and datname = current_database()`;

/** The backends of stores that wait for a lock. */
async function lockWaiters(client: pg.Client): Promise<number[]> {
  await client.query('select pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ pid: number }>(`${backends} and wait_event_type = 'Lock'`);
  return rows.map(({ pid }) => pid);
}

/** The backends of stores that are not idle. Within a transaction, PostgreSQL would repeat the states it read first. */
async function activeBackends(client: pg.Client): Promise<unknown[]> {
  await client.query('select pg_stat_clear_snapshot()');
  return (await client.query(`${backends} and state <> 'idle'`)).rows;
}

// Most of their time they wait.
describe.concurrent('dead peers', () => {
  test.each(['all', 'answers'] as const)('a create is written once when the connection swallows %s', async (what) => {
    await using world = await World.create({ max: 1 });
    const { proxy, store, direct } = world;
    const [change] = await born(store, {});
    proxy.swallow(what);
    expect(await store.commit({ changes: [change!] })).toEqual([true]);
    expect(await direct.history(change!.after.id)).toHaveLength(1);
  });

  test('a claim whose answer is swallowed is confirmed, and its locks are released', async () => {
    await using world = await World.create({ max: 1 });
    const { proxy, store, direct } = world;
    const jobs = await made(store, ...many(3));
    proxy.swallow('answers');
    const taken = await claimed(store);
    const others = await claimed(direct);
    expect([...taken, ...others].map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(jobs.map(({ id }) => id));
  });

  detail('no create is refused when all connections of the pool are dead', async () => {
    await using world = await World.create({ max: 8 });
    const { proxy, store, direct } = world;
    await Promise.all(many(40).map(() => store.load([1])));
    proxy.swallow();
    const ids = (await Promise.all(many(40).map(async () => made(store, {})))).flat().map(({ id }) => id);
    expect(await direct.load(ids)).toHaveLength(40);
  });

  detail('no create is refused when the server comes back within the patience', async () => {
    await using world = await World.create({ max: 2, patienceMs: 60_000 });
    const { proxy, store, direct } = world;
    const [change] = await born(store, {});
    proxy.swallow();
    proxy.swallowNew();
    const committed = store.commit({ changes: [change!] });
    await systemClock.sleep(2_000);
    proxy.recover();
    expect(await committed).toEqual([true]);
    expect(await direct.history(change!.after.id)).toHaveLength(1);
  });

  detail('an unreachable server is reported when the patience is over', async () => {
    await using world = await World.create({ max: 2, patienceMs: 1_000 * slowness });
    const { proxy, store } = world;
    proxy.swallow();
    proxy.swallowNew();
    await expect(store.load([1])).rejects.toMatchObject({ code: 'unavailable.store' });
  });

  test('a statement that waits for a lock is not taken for a lost one', async ({ expect }) => {
    await using world = await World.create({ max: 1 });
    const { store } = world;
    const client = await world.connect();
    await client.query('begin; lock table stint.job');
    const [change] = await born(store, {});
    const committed = store.commit({ changes: [change!] });
    await expect.poll(() => lockWaiters(client)).toHaveLength(1);
    const before = await lockWaiters(client);
    await systemClock.sleep(2_500);
    expect(await lockWaiters(client)).toEqual(before);
    await client.query('commit');
    expect(await committed).toEqual([true]);
  });

  test('a statement that is executed for too long is cancelled: what was refused is never written', async ({ expect }) => {
    await using world = await World.create({ max: 1, statementTimeoutMs: 1_000 * slowness, patienceMs: 500 * slowness });
    const { store, direct } = world;
    const client = await world.connect();
    const [change] = await born(store, {});
    await client.query('begin; lock table stint.job');
    const tooLong = { code: 'unavailable.store', detail: { reason: 'a statement took too long' } };
    await expect(store.load([1])).rejects.toMatchObject(tooLong);
    await expect(store.commit({ changes: [change!] })).rejects.toMatchObject(tooLong);
    await client.query('commit');
    await expect.poll(() => activeBackends(client), { timeout: waitMs }).toEqual([]);
    expect(await direct.load([change!.after.id])).toEqual([]);
    expect(await store.commit({ changes: [change!] })).toEqual([true]);
  });

  detail('a statement that is executed for too long is ended also if its answer is swallowed', async ({ expect }) => {
    await using world = await World.create({ max: 1, statementTimeoutMs: 1_000 * slowness, patienceMs: 500 * slowness });
    const { proxy, store, direct } = world;
    const client = await world.connect();
    const [change] = await born(store, {});
    await client.query('begin; lock table stint.job');
    proxy.swallow('answers');
    await expect(store.commit({ changes: [change!] })).rejects.toMatchObject({ code: 'unavailable.outcome' });
    await expect.poll(() => activeBackends(client), { timeout: waitMs }).toEqual([]);
    await client.query('commit');
    expect(await direct.load([change!.after.id])).toEqual([]);
  });

  detail('a change is refused as unknown if the server is lost before it answers', async () => {
    await using world = await World.create({ max: 2, patienceMs: 1_000 * slowness });
    const { proxy, store, direct } = world;
    const [change] = await born(store, {});
    proxy.swallow('answers');
    proxy.swallowNew();
    await expect(store.commit({ changes: [change!] })).rejects.toMatchObject({ code: 'unavailable.outcome' });
    expect(await direct.load([change!.after.id])).toHaveLength(1);
    await expect(store.load([1])).rejects.toMatchObject({ code: 'unavailable.store' });
  });

  detail('a listener whose connection is dead gets notifications again', async ({ expect }) => {
    await using world = await World.create({ max: 1, notify: true });
    const { proxy, store, direct } = world;
    const producer = world.open(proxy.url, { notify: true });
    let woken = 0;
    store.onWake(() => void (woken += 1));
    await expect.poll(() => woken).toBe(1);
    proxy.swallow();
    await store.load([1]);
    await expect.poll(() => woken).toBeGreaterThan(1);
    const before = woken;
    await made(producer, {});
    await expect.poll(() => woken).toBeGreaterThan(before);
    expect(await direct.count({})).toMatchObject([{ count: 1 }]);
  });
});
