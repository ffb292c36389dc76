/**
 * The database: a pool of connections to PostgreSQL, prepared statements, transactions in few round trips, and retries
 * while the server is unreachable. Apart from prepared statements, no session state outlives a transaction, so a
 * transaction pooler works.
 */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { isUnavailable, Refusal } from '../../../refusal.ts';
import { settlesWithin } from '../../../time/settles-within.ts';
import type { Pool } from '../../store.ts';
import { backendProbe } from './backend-probe.ts';
import { clientClass, clientConfig, rowTypes, type ClientClass } from './clients.ts';
import { DescribedStatements } from './described-statement.ts';
import { systemDriver, type PgDriver } from './driver.ts';
import {
  connectErrorOf, errorOf, ignore, isBusy, isTimedOut, tookTooLong, unknownOutcome, ConnectionLost,
  StatementForgotten,
} from './errors.ts';
import { JobClaims } from './job-claims.ts';
import { PeerWatch, resetClient, socketOf, type WatchedClient } from './peer-watch.ts';
import { RecentClients } from './recent-clients.ts';
import { readClockSql, type ServerClock } from './server-clock.ts';
import type { PostgresUrl } from './url.ts';

export interface DatabaseSettings {
  /** The schema that holds Stint's tables. */
  readonly schema: string;
  /** The maximum number of connections. */
  readonly max: number;
  readonly ssl?: boolean | ConnectionOptions;
  /**
   * Whether to use prepared statements, which are parsed and planned once per connection. Old poolers do not support
   * them.
   */
  readonly prepare: boolean;
  /** How long to wait for a statement that the server is executing. After that it is cancelled and refused. */
  readonly statementTimeoutMs: number;
  /**
   * How long a connection with an unanswered statement may be silent before the server is asked whether it is executing
   * the statement.
   */
  readonly silenceMs: number;
  /** How long to retry while the server is unreachable. After that calls are refused with `unavailable.store`. */
  readonly patienceMs: number;
}

/** Executes statements: on the pool, in a transaction of the store, or in the caller's transaction. */
export interface Session {
  /** The schema's name as an SQL identifier. */
  readonly schema: string;
  readonly time: ServerClock;
  readonly claims: JobClaims;
  /** Executes a prepared statement; for texts that are executed often. */
  run<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /**
   * Executes a statement without preparing it; for texts that rarely repeat, or whose best plan depends on the values.
   */
  runUnprepared<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

export interface Transaction extends Session {
  /** May be called before earlier statements have been answered: statements and commit then take one round trip. */
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Called when a connection broke after a statement was sent, so that the outcome of the statement is unknown. */
export type OnUnknownOutcome = () => void;

const idleMs = 60_000;
const goodbyeMaxMs = 3_000;
const busyTriesMax = 30;
const namedStatementsMax = 400;

export class Database implements Session {
  readonly schema: string;
  readonly time: ServerClock;
  readonly claims = new JobClaims();
  readonly driver: PgDriver;
  readonly #pool: pg.Pool;
  readonly #peers: PeerWatch;
  readonly #clients = new Set<pg.PoolClient>();
  readonly #recent: RecentClients;
  readonly #settings: DatabaseSettings;
  readonly #names = new Map<string, string>();
  readonly #described: DescribedStatements | null;
  #prepares: boolean;
  #isClosed = false;

  constructor(url: PostgresUrl, settings: DatabaseSettings, time: ServerClock, driver = systemDriver) {
    this.schema = pg.escapeIdentifier(settings.schema);
    this.time = time;
    this.driver = driver;
    this.#settings = settings;
    this.#prepares = settings.prepare;
    this.#described = driver.hasSockets ? new DescribedStatements(rowTypes) : null;
    const Client = clientClass(url, driver.Client);
    // Each new connection reads the server's clock before its first statement, so that `time` knows store time once a
    // connection is open.
    const pooling = { ...settings, Client, onConnect: (client: pg.ClientBase) => this.#readClock(client) };
    this.#pool = newPool(driver.Pool, pooling);
    const config = clientConfig(settings.ssl);
    const probe = backendProbe((limits) => new Client({ ...config, ...limits }));
    this.#peers = new PeerWatch(settings, probe, driver.clock);
    this.#pool.on('error', ignore);
    this.#recent = new RecentClients(driver.clock);
    this.#pool.on('connect', (client) => {
      this.#clients.add(client);
      client.on('error', () => this.#recent.drop(client));
    });
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  get pool(): Pool {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { open: totalCount, idle: idleCount + this.#recent.count, waiting: waitingCount, max: this.#settings.max };
  }

  run<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.use((session) => session.run<Row>(text, values));
  }

  runUnprepared<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.use((session) => session.runUnprepared<Row>(text, values));
  }

  /**
   * Runs `work` on one connection without a transaction. Repeats it after a lost connection, a forgotten prepared
   * statement, or an error for which `isBusy` is true, up to a limit.
   */
  use<T>(work: (session: Session) => Promise<T>, onUnknownOutcome?: OnUnknownOutcome): Promise<T> {
    return this.#withRetries(() => this.#withClient((client) => work(this.#sessionOn(client))), onUnknownOutcome);
  }

  /**
   * Runs `work` in a transaction, and commits the transaction unless `work` has ended it. Repeats `work` in a new
   * transaction after the same errors as `use`.
   */
  transaction<T>(work: (transaction: Transaction) => Promise<T>, onUnknownOutcome?: OnUnknownOutcome): Promise<T> {
    return this.#withRetries(
      () => this.#withClient((client) => inTransaction(this.#sessionOn(client), work)), onUnknownOutcome,
    );
  }

  /**
   * Runs `work` in a transaction, once. Its statements may be far apart: the server waits for them up to a minute, and
   * plans them as it does by default.
   */
  async transactOnce<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    try {
      return await this.#withClient((client) => inTransaction(this.#sessionOn(client), work, beginOnce));
    } catch (error) {
      throw error instanceof ConnectionLost ? unknownOutcome(messageOf(error.cause)) : error;
    }
  }

  async #readClock(client: pg.ClientBase): Promise<void> {
    const { rows } = await client.query<{ now: number }>(readClockSql, [null]);
    this.time.observe(rows[0]!.now);
  }

  /**
   * Registers a function that is called when a connection is found dead. The function should check other connections,
   * which may be dead, too.
   */
  onPeerLoss(call: () => void): void {
    this.#peers.onLoss(call);
  }

  /** Suspends the statement timeout until `work` ends, for example while a migration changes a large table. */
  withoutTimeout<T>(work: () => Promise<T>): Promise<T> {
    return this.#peers.withoutTimeout(work);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#recent.clear();
    const ended = this.#pool.end();
    // A dead server does not answer the goodbye that `end` sends. Connections that are left after `goodbyeMaxMs` are
    // reset.
    if (!(await settlesWithin(this.driver.clock, goodbyeMaxMs, ended))) {
      for (const client of this.#clients) resetClient(client);
    }
    await ended;
    this.#peers.close();
  }

  async #withClient<T>(work: (client: WatchedClient) => Promise<T>): Promise<T> {
    const watched = await this.#client();
    let isBroken = false;
    try {
      return await work(watched);
    } catch (error) {
      isBroken = error instanceof ConnectionLost;
      throw error;
    } finally {
      this.#peers.end(watched);
      this.#release(watched.client, isBroken);
    }
  }

  #release(client: pg.PoolClient, isBroken: boolean): void {
    const isWanted = this.#pool.waitingCount > 0;
    if (isBroken || isWanted || this.#isClosed) client.release(isBroken);
    else this.#recent.keep(client);
  }

  /** Returns a recent client, or one of the pool, and drops clients that may be dead. */
  async #client(): Promise<WatchedClient> {
    for (;;) {
      if (this.#isClosed) throw new Refusal('unavailable.store', 'the store is closed');
      const client = this.#recent.take() ?? (await this.#connect());
      const watched = this.#peers.begin(client);
      if (watched !== null) return watched;
      client.release(true);
    }
  }

  #connect(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((error: unknown) => {
      throw connectErrorOf(error, this.driver.clock.monotonic());
    });
  }

  async #withRetries<T>(attempt: () => Promise<T>, onUnknownOutcome?: OnUnknownOutcome): Promise<T> {
    let isOutcomeUnknown = false;
    try {
      return await this.#retrying(attempt, () => {
        isOutcomeUnknown = onUnknownOutcome !== undefined;
        onUnknownOutcome?.();
      });
    } catch (error) {
      // Also if the last try has certainly written nothing, an earlier one may have.
      throw isOutcomeUnknown && isUnavailable(error) ? unknownOutcome(error.message) : error;
    }
  }

  async #retrying<T>(attempt: () => Promise<T>, onUnknownOutcome: OnUnknownOutcome): Promise<T> {
    let lostSince = Infinity;
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof ConnectionLost && error.wasSent) onUnknownOutcome();
        if (error instanceof StatementForgotten) this.#prepares = false;
        else if (error instanceof ConnectionLost) {
          lostSince = Math.min(lostSince, error.since);
          this.#throwIfOutOfPatience(lostSince, error);
        }
        else if (!isBusy(error) || tries === busyTriesMax) throw error;
        await this.driver.clock.sleep(this.driver.random.next() * Math.min(1000, 5 * 2 ** tries));
      }
    }
  }

  #throwIfOutOfPatience(lostSince: number, { cause }: ConnectionLost): void {
    if (!this.#isClosed && this.driver.clock.monotonic() - lostSince < this.#settings.patienceMs) return;
    const why = messageOf(cause);
    throw new Refusal('unavailable.store', `cannot reach the database: ${why}`, { cause: why });
  }

  #sessionOn(watched: WatchedClient): Session {
    const { client } = watched;
    const stream = socketOf(client);
    const send = async <Row extends object>(text: string, values: readonly unknown[], name?: string): Promise<Row[]> => {
      stream.cork(); // the statements of one turn of the event loop leave in one packet
      process.nextTick(() => stream.uncork());
      watched.unanswered += 1;
      try {
        return (await this.#execute(client, text, values, name)) as Row[];
      } catch (error) {
        const { loss } = watched;
        if (watched.isCancelled && isTimedOut(error)) throw tookTooLong(this.#settings.statementTimeoutMs);
        if (loss !== null) throw new ConnectionLost(new Error(loss.reason), true, loss.since);
        throw errorOf(error, true, this.driver.clock.monotonic());
      } finally {
        watched.unanswered -= 1;
      }
    };
    return {
      schema: this.schema,
      time: this.time,
      claims: this.claims,
      run: (text, values = []) => send(text, values, this.#nameOf(text)),
      runUnprepared: (text, values = []) => send(text, values),
    };
  }

  /** A statement with a name is prepared. */
  async #execute(
    client: pg.PoolClient,
    text: string,
    values: readonly unknown[],
    name: string | undefined,
  ): Promise<pg.QueryResultRow[]> {
    const known = name === undefined ? undefined : this.#described?.execute(client, name, values);
    if (known) return known;
    const { rows, fields } = await client.query<pg.QueryResultRow>({
      text,
      ...(values.length === 0 && name === undefined ? {} : { values: values as unknown[] }),
      ...(name === undefined ? {} : { name }),
    });
    if (name !== undefined) this.#described?.record(client, name, fields);
    return rows;
  }

  /** The name under which connections prepare a statement; undefined: they do not prepare it. */
  #nameOf(text: string): string | undefined {
    if (!this.#prepares) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size === namedStatementsMax) return known;
    const name = `stint_${this.#names.size + 1}`;
    this.#names.set(text, name);
    return name;
  }
}

/**
 * The settings of each transaction. The timeout: a process that stops inside a transaction blocks its rows for at most
 * ten seconds. Generic plans and no JIT: Stint's statements have many CTEs with few rows, so planning them for each
 * execution or compiling them takes longer than executing them. No bitmap scans: claims read an index in order until
 * they have enough rows. With statistics that were collected while the queue was empty, the planner would prefer a
 * bitmap scan of all rows and a sort.
 */
export const transactionSettings = {
  idle_in_transaction_session_timeout: '10s',
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_bitmapscan: 'off',
} as const;

const begin = [
  'begin isolation level read committed',
  ...Object.entries(transactionSettings).map(([name, value]) => `set local ${name} = '${value}'`),
].join('; ');

const beginOnce = `begin isolation level read committed; set local idle_in_transaction_session_timeout = '60s'`;

async function inTransaction<T>(
  session: Session,
  work: (transaction: Transaction) => Promise<T>,
  beginText = begin,
): Promise<T> {
  let isOver = false;
  const end = (text: string): Promise<void> => {
    isOver = true;
    return session.runUnprepared(text).then(ignore);
  };
  const transaction = { ...session, commit: () => end('commit'), rollback: () => end('rollback') };
  const begun = session.runUnprepared(beginText);
  begun.catch(ignore); // its error is thrown below, by `work` or by `await begun`
  try {
    const answer = await work(transaction);
    if (!isOver) await transaction.commit();
    await begun;
    return answer;
  } catch (error) {
    if (!isOver && !(error instanceof ConnectionLost)) await transaction.rollback();
    throw error;
  }
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

interface PoolSettings extends Pick<DatabaseSettings, 'ssl' | 'max'> {
  readonly Client: ClientClass;
  readonly onConnect: (client: pg.ClientBase) => Promise<void>;
}

type PoolClass = new (config: pg.PoolConfig) => pg.Pool;

function newPool(Pool: PgDriver['Pool'], { ssl, max, Client, onConnect }: PoolSettings): pg.Pool {
  const config = { ...clientConfig(ssl), Client, max, idleTimeoutMillis: idleMs, pipeline: true, onConnect };
  return new (Pool as PoolClass)(config);
}
