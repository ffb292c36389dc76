// The fixture of a test: a Bedrock server on its own store, a virtual clock, and checks of the stored data.
import { expect, test as plain } from 'vitest';
import type { Logger } from '../../src/logger.ts';
import { BedrockServer, type BedrockOptions } from '../../src/bedrock/server.ts';
import { Jobs } from '../../src/jobs.ts';
import { isOpen, type Job } from '../../src/model/job.ts';
import { checkHistory } from '../../src/conformance/invariants.ts';
import type { Store } from '../../src/store/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { waitMs } from '../support/patience.ts';
import { stores, type OpenStore, type StoreKind } from '../support/stores.ts';
import { Client, type Answer, type Fields } from './client.ts';

export const startOfTime = Date.UTC(2026, 2, 1, 12);
export const second = 1000;
export const minute = 60 * second;
export const hour = 60 * minute;

const [, sqlite, postgres] = stores as [StoreKind, StoreKind, StoreKind];

export class BedrockWorld {
  readonly clock = new VirtualClock(startOfTime);
  readonly said: { readonly text: string; readonly about: Readonly<Record<string, unknown>> | undefined }[] = [];
  readonly #kind: StoreKind;
  readonly #clients: Client[] = [];
  readonly #servers: BedrockServer[] = [];
  #opened!: OpenStore;
  jobs!: Jobs;
  client!: Client;
  port = 0;

  private constructor(kind: StoreKind) {
    this.#kind = kind;
  }

  static async open(kind: StoreKind, options: BedrockOptions = {}): Promise<BedrockWorld> {
    const world = new BedrockWorld(kind);
    world.#opened = await kind.open(world.clock);
    world.jobs = new Jobs(world.store);
    await world.serve(options);
    return world;
  }

  get store(): Store {
    return this.#opened.store;
  }

  /** Another connection to the same data. */
  again(): Promise<Store> {
    return this.#opened.again();
  }

  /** Starts another server with its own client, which sends all requests from now on. */
  async serve(options: BedrockOptions, jobs = this.jobs): Promise<BedrockServer> {
    const server = this.#server(options, jobs);
    this.port = (await server.listen(0, '127.0.0.1')).port;
    this.client = await this.connect();
    return server;
  }

  /** Checks only whether the server would listen there. */
  async serveOn(host: string, options: BedrockOptions): Promise<void> {
    await this.#server(options).listen(0, host);
  }

  #server(options: BedrockOptions, jobs = this.jobs): BedrockServer {
    const tell: Logger['info'] = (text, about) => void this.said.push({ text, about });
    const logger: Logger = { info: tell, warn: tell, error: tell };
    const inspection = { timeMs: waitMs, ...options.inspection };
    const server = new BedrockServer({ jobs, clock: this.clock, logger, options: { ...options, inspection } });
    this.#servers.push(server);
    return server;
  }

  async connect(): Promise<Client> {
    const client = await Client.connect(this.port);
    this.#clients.push(client);
    return client;
  }

  ask(verb: string, fields: Fields = {}): Promise<Answer> {
    return this.client.ask(verb, fields);
  }

  /** The status line alone. */
  async status(verb: string, fields: Fields = {}): Promise<string> {
    return (await this.ask(verb, fields)).status;
  }

  /** The reply of a command that must succeed. */
  async json<T = Record<string, unknown>>(verb: string, fields: Fields = {}): Promise<T> {
    const { status, body } = await this.ask(verb, fields);
    expect(status, verb).toBe('200 OK');
    return (body === '' ? {} : JSON.parse(body)) as T;
  }

  async create(fields: Fields): Promise<number> {
    return (await this.json<{ jobID: number }>('CreateJob', fields)).jobID;
  }

  async get(name: string, fields: Fields = {}): Promise<Handed> {
    return this.json<Handed>('GetJob', { name, ...fields });
  }

  /** A job that is handed out to a worker. */
  async running(fields: Fields & { readonly name: string }): Promise<number> {
    const id = await this.create(fields);
    expect((await this.get(fields.name, { getMockedJobs: 1 })).jobID).toBe(id);
    return id;
  }

  async query(id: number): Promise<Queried> {
    return this.json<Queried>('QueryJob', { jobID: id });
  }

  state(id: number): Promise<string> {
    return this.client.state(id);
  }

  async job(id: number): Promise<Job> {
    return (await this.jobs.get(id))!;
  }

  async events(id: number): Promise<string[]> {
    return (await this.jobs.history(id)).map(({ kind }) => kind);
  }

  /** Lets the server process the bytes in flight. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) await turn();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  /** Advances the clock in small steps until the reply arrives: a separate database needs real time in between. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.finally(() => (isSettled = true));
    settled.catch(() => {}); // it is awaited below
    await this.until(async () => {
      await this.advance(50);
      return isSettled;
    });
    return settled;
  }

  /** Polls a condition that has no signal. */
  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (const start = performance.now(); performance.now() - start < waitMs; await turn()) {
      if (await isSo()) return;
    }
    throw new Error('it did not come to be so');
  }

  /** Resolves when this many workers wait. */
  async waiting(count: number): Promise<void> {
    await this.until(async () => {
      const { plugins } = await this.json<{ plugins: { waiting: number }[] }>('Status');
      return plugins[0]!.waiting === count;
    });
  }

  /** A waiting worker and its reply. */
  async worker(fields: Fields, verb = 'GetJob'): Promise<Worker> {
    const client = await this.connect();
    const told = client.ask(verb, { Connection: 'wait', timeout: 600_000, ...fields });
    const jobID = told.then(({ body }) => (JSON.parse(body) as Handed).jobID);
    for (const promise of [told, jobID]) promise.catch(() => {}); // one that nobody asks about may come to nothing
    return { client, told, jobID };
  }

  /** Checks every invariant of the store. */
  async check(): Promise<void> {
    const jobs = await this.#everyJob();
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const job of jobs) {
      checkHistory(job, await this.jobs.history(job.id));
      const parent = job.parent === null ? undefined : byId.get(job.parent);
      const isAlone = job.parent !== null && isOpen(job) && (parent === undefined || !isOpen(parent));
      expect(isAlone, `S15: job ${job.id} lives and its parent does not`).toBe(false);
    }
    expect(this.said.filter(({ text }) => text === 'a Bedrock command failed')).toEqual([]);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    for (const server of this.#servers) await server.close();
    await this.#opened.close();
  }

  async #everyJob(): Promise<Job[]> {
    const jobs: Job[] = [];
    for (let after: number | undefined; ; ) {
      const since = after === undefined ? {} : { after };
      const page = await this.store.find({}, { order: 'oldest', limit: 1000, ...since });
      jobs.push(...page.jobs);
      if (page.next === null) return jobs;
      after = page.next;
    }
  }

  get kind(): string {
    return this.#kind.name;
  }
}

export interface Worker {
  readonly client: Client;
  readonly told: Promise<Answer>;
  readonly jobID: Promise<number>;
}

export interface Handed {
  readonly jobID: number;
  readonly name: string;
  readonly data: Record<string, unknown>;
  readonly [key: string]: unknown;
}

export interface Queried extends Handed {
  readonly state: string;
  readonly nextRun: string;
  readonly lastRun: string;
  readonly created: string;
}

/** A test on one store that checks every history at the end. */
export const testOn = (kind: StoreKind, options: BedrockOptions = {}) =>
  plain.extend<{ world: BedrockWorld }>({
    // oxlint-disable-next-line no-empty-pattern -- vitest reads from the pattern which fixtures are needed
    world: async ({}, use) => {
      const world = await BedrockWorld.open(kind, options);
      try {
        await use(world);
        await world.check();
      } finally {
        await world.close();
      }
    },
  });

export const onSqlite = testOn(sqlite);
export const onPostgres = testOn(postgres);
export const both = [
  { name: 'SQLite', kind: sqlite, test: onSqlite },
  { name: 'PostgreSQL', kind: postgres, test: onPostgres },
] as const;
export { postgres, sqlite };

export const at = (ms: number): string => new Date(startOfTime + ms).toISOString().slice(0, 19).replace('T', ' ');
