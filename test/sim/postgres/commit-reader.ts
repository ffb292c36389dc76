// Reads after each commit what it has written, so that the monitor sees every commit in order.
import pg from 'pg';
import type { Change } from '../../../src/model/change.ts';
import type { Event } from '../../../src/model/event.ts';
import { feedEventsOf } from '../../../src/store/feed-entry.ts';
import type { Store } from '../../../src/store/store.ts';
import type { StoredRequest } from '../inbox.ts';
import type { RecordedBeat, StoreMonitor } from '../monitor.ts';
import type { SimulatedServer } from './server.ts';

interface StoredLease {
  readonly id: string;
  readonly beat: number;
  readonly until: number;
  readonly boot: string | null;
}

interface StoredStepRow {
  readonly job: number;
  readonly name: string;
  readonly fence: number;
  /** What changes when a holder writes it. */
  readonly written: string;
}

interface StoredClosing {
  readonly name: string;
  readonly key: string;
  readonly until: number;
}

export class CommitReader {
  readonly #store: Store;
  readonly #monitor: StoreMonitor;
  readonly #server: SimulatedServer;
  readonly #client: pg.Client;
  /** All entries of the feed up to this one have been read, or were rolled back. */
  #low = 0;
  readonly #read = new Set<number>();
  #leases = new Map<string, StoredLease>();
  /** The requests of the inbox that have their time. */
  readonly #timed = new Set<number>();
  /** The rows of steps that holders have written, by job and name. */
  #steps = new Map<string, string>();
  readonly #closings = new Map<string, number>();
  /** Runs without unique keys that were created for requests of the inbox, and not compared with it. */
  #inboxRuns = 0;

  private constructor(parts: { store: Store; monitor: StoreMonitor; server: SimulatedServer; client: pg.Client }) {
    this.#store = parts.store;
    this.#monitor = parts.monitor;
    this.#server = parts.server;
    this.#client = parts.client;
  }

  static async on(url: string, store: Store, monitor: StoreMonitor, server: SimulatedServer): Promise<CommitReader> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new CommitReader({ store, monitor, server, client });
  }

  /** Reads what was committed by these statements, whose transaction began at this store time. */
  async read(texts: readonly string[], since: number): Promise<void> {
    const names = (part: string): boolean => texts.some((text) => text.includes(part));
    if (names('.instance')) await this.#readLeases();
    const steps = names('.step') ? await this.#writtenSteps() : [];
    const holders = steps.map(({ job }) => this.#monitor.jobs.get(job));
    // First: a parent may continue in the commit that deletes its last child.
    if (texts.some((text) => /delete from \S*\.(job|ended|origin|claim)/.test(text))) await this.#findDeleted();
    if (names('.feed')) await this.#readFeed(since);
    steps.forEach((step, index) => this.#monitor.observeStep(step, holders[index]));
    if (names('.rate')) await this.#readClosings();
    if (names('.enqueue(')) await this.#setRequestTimes();
    if (names('.inbox') || names('.enqueue(')) await this.#readInbox();
  }

  async query<Row extends object>(text: string): Promise<readonly Row[]> {
    return (await this.#client.query<Row>(text)).rows;
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #readFeed(since: number): Promise<void> {
    const { rows } = await this.#client.query<{ seq: string; events: string }>({
      name: 'feed', text: 'select seq::text as seq, events from stint.feed where seq > $1 order by seq', values: [this.#low],
    });
    const fresh = rows.filter(({ seq }) => !this.#read.has(Number(seq)));
    for (const { seq } of fresh) this.#read.add(Number(seq));
    // An entry is of one statement, whose rows the server writes in an order that depends on its plan and on object ids.
    const told = fresh.flatMap(({ events }) => feedEventsOf(events).toSorted((a, b) => a.job - b.job));
    if (told.length > 0) await this.#pass(told, since);
    this.#inboxRuns += told.filter(({ event: { kind, by }, job }) =>
      kind === 'created' && by === 'inbox' && this.#monitor.jobs.get(job)?.unique === null).length;
    if (!this.#server.isIdle || this.#read.size === 0) return;
    this.#low = Math.max(...this.#read);
    this.#read.clear();
  }

  async #pass(told: readonly { readonly job: number; readonly event: Event }[], since: number): Promise<void> {
    const byJob = Map.groupBy(told, ({ job }) => job);
    const stored = new Map((await this.#store.load([...byJob.keys()])).map((job) => [job.id, job]));
    const changes = [...byJob].flatMap(([id, events]): Change[] => {
      const [before, after] = [this.#monitor.jobs.get(id) ?? null, stored.get(id)];
      return after === undefined ? [] : [{ before, after, events: events.map(({ event }) => event) }];
    });
    this.#monitor.observe(changes, since);
  }

  /** Returns the steps that their holders have written since the last call: ends of steps, and questions. */
  async #writtenSteps(): Promise<readonly StoredStepRow[]> {
    const { rows } = await this.#client.query<StoredStepRow>({
      name: 'steps',
      text: `select job::float8 as job, name, fence::float8 as fence,
          json_build_array(fence, started_at, question, case when kind <> 'wait' then ended_at end)::text as written
        from stint.step where fence > 0 and (question is not null or (kind <> 'wait' and ended_at is not null))
        order by job, name`,
    });
    const fresh = rows.filter(({ job, name, written }) => this.#steps.get(`${job}/${name}`) !== written);
    this.#steps = new Map(rows.map(({ job, name, written }) => [`${job}/${name}`, written]));
    return fresh;
  }

  async #readClosings(): Promise<void> {
    const { rows } = await this.#client.query<StoredClosing>({
      name: 'closings', text: 'select name, key, closed_until::float8 as until from stint.rate where closed_until is not null',
    });
    for (const { name, key, until } of rows) {
      if ((this.#closings.get(`${name} ${key}`) ?? 0) >= until) continue;
      this.#closings.set(`${name} ${key}`, until);
      this.#monitor.observeClosing({ name, key: key === '' ? null : key }, until);
    }
  }

  /** The function `enqueue` stores the time of the server, which is the real one. Nobody has seen the requests yet. */
  async #setRequestTimes(): Promise<void> {
    const { rows } = await this.#client.query<{ id: string }>({
      name: 'request times', text: 'update stint.inbox set at = $1 where id <> all($2::bigint[]) returning id',
      values: [this.#server.now(), [...this.#timed]],
    });
    for (const { id } of rows) this.#timed.add(Number(id));
  }

  async #readInbox(): Promise<void> {
    const { rows } = await this.#client.query<StoredRequest>({
      name: 'inbox',
      text: `select id::float8 as id, refused_at is not null as "isRefused", options ->> 'unique' as key from stint.inbox`,
    });
    this.#monitor.observeInbox(rows, this.#inboxRuns);
    this.#inboxRuns = 0;
  }

  async #findDeleted(): Promise<void> {
    const known = [...this.#monitor.jobs.keys()];
    const stored = new Set((await this.#store.load(known)).map(({ id }) => id));
    for (const id of known.filter((each) => !stored.has(each))) {
      const before = this.#monitor.jobs.get(id); // undefined: it was deleted with its parent
      if (before) this.#monitor.observe([{ before, after: null, events: [] }]);
    }
  }

  async #readLeases(): Promise<void> {
    const { rows } = await this.#client.query<StoredLease>({
      name: 'leases',
      text: `select id, beat_at::float8 as beat, lease_until::float8 as until, about::json ->> 'boot' as boot from stint.instance order by id`,
    });
    const leases = new Map(rows.map((row) => [row.id, row]));
    for (const [id] of this.#leases) if (!leases.has(id)) this.#monitor.observeLeave(id);
    for (const lease of leases.values()) {
      const known = this.#leases.get(lease.id);
      if (known && known.beat === lease.beat && known.until === lease.until && known.boot === lease.boot) continue;
      if (known && known.beat === lease.beat && lease.until < known.until) this.#monitor.observeLeave(lease.id);
      else this.#monitor.observeBeat(beatOf(lease), lease.beat);
    }
    this.#leases = leases;
  }
}

const beatOf = ({ id, beat, until, boot }: StoredLease): RecordedBeat =>
  ({ id, leaseMs: until - beat, about: boot === null ? {} : { boot } });
