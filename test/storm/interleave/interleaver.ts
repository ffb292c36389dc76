// The interleaver: executes pairs of calls on two stores with gated connections; a third store sets up and checks.
import pg from 'pg';
import { Jobs } from '../../../src/jobs.ts';
import { Ids } from '../../../src/jobs/ids.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Job } from '../../../src/model/job.ts';
import { create } from '../../../src/model/machine.ts';
import { isRefusal } from '../../../src/refusal.ts';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { violationText, verify } from '../../../src/verify.ts';
import { GatedConnection } from './gated-connection.ts';
import { inAllOrders, type Order, type Operation } from './orders.ts';
import type { Call, Outcome, Pair, Setup } from './pairs.ts';

/** Creates tasks without storing them. */
export async function newTasks(jobs: Jobs, parent: number, count: number): Promise<Change[]> {
  const first = await jobs.store.reserveIds(count);
  const now = jobs.store.now();
  return Array.from({ length: count }, (_, index) => create({
    id: first + index, created: now, kind: 'task', type: 'plain', def: null, parent, key: `task ${index}`, gate: null,
    unique: null, policy: {}, tags: null, input: '{}', tick: null, follows: null, typeVersion: 1,
  }, { due: now, priority: 0 }, { by: 'ann', now }));
}

export class Interleaver implements AsyncDisposable {
  /** The clock of all stores. It stands still while a pair runs. */
  readonly #clock: VirtualClock;
  readonly #direct: Jobs;
  readonly #observer: pg.Client;
  readonly #connections: readonly Connection[];

  private constructor(clock: VirtualClock, direct: Jobs, observer: pg.Client, connections: readonly Connection[]) {
    this.#clock = clock;
    this.#direct = direct;
    this.#observer = observer;
    this.#connections = connections;
  }

  /** The database must not be used by anything else. */
  static async on(url: string): Promise<Interleaver> {
    const observer = new pg.Client({ connectionString: url });
    await observer.connect();
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const direct = new Jobs(new PostgresStore(url, { notify: false, clock }));
    await direct.store.migrate();
    const connections = [await openConnection(url, clock), await openConnection(url, clock)];
    return new Interleaver(clock, direct, observer, connections);
  }

  /** Runs the pair in all orders, or in a sample of more than `ordersMax`. Returns the number of orders, and the problems with their orders. */
  async run({ setUp }: Pair, ordersMax: number): Promise<{ readonly orders: number; readonly wrong: readonly string[] }> {
    const wrong: string[] = [];
    const orders = await inAllOrders(ordersMax, async (order) => {
      await this.#clear();
      const { calls, wrong: problemOf } = await setUp(this.#direct, (ms) => this.#clock.advance(ms));
      const answers = await this.#run(calls, order);
      const outcome = await this.#outcome(answers);
      const problem = problemOf(outcome);
      const problems = [...(problem === null ? [] : [problem]), ...(await this.#violations())];
      wrong.push(...problems.map((each) => `order ${order.text}: ${each}`));
    });
    return { orders, wrong };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#observer.end();
    await this.#direct.store.close();
    for (const { jobs, connection } of this.#connections) {
      await jobs.store.close();
      connection.close();
    }
  }

  async #clear(): Promise<void> {
    const tables = [
      'origin', 'job', 'claim', 'ended', 'history_chunk', 'feed', 'unique_key', 'staged', 'progress', 'log', 'instance',
      'leader',
    ];
    await this.#observer.query(tables.map((table) => `delete from stint.${table}`).join(';'));
  }

  async #run(calls: Setup['calls'], order: Order): Promise<Outcome['answers']> {
    const started = this.#connections.map((each, index) => start(each, calls[index]!));
    await order.run(started.map(({ operation }) => operation), this.#observer);
    for (const { connection } of this.#connections) connection.open();
    return Promise.all(started.map(({ answer }) => answer)) as unknown as Promise<Outcome['answers']>;
  }

  async #outcome(answers: Outcome['answers']): Promise<Outcome> {
    const { jobs } = await this.#direct.find({}, { order: 'oldest' });
    const historyOf = async ({ id }: Job) => [id, await this.#direct.history(id)] as const;
    const histories = new Map(await Promise.all(jobs.map(historyOf)));
    return { answers, jobs, history: (id) => histories.get(id) ?? [] };
  }

  async #violations(): Promise<string[]> {
    return (await Array.fromAsync(verify(this.#direct.store, { patienceMs: 0 }))).map(violationText);
  }
}

interface Connection {
  readonly connection: GatedConnection;
  readonly jobs: Jobs;
}

async function openConnection(url: string, clock: VirtualClock): Promise<Connection> {
  const connection = await GatedConnection.to(url);
  const store = new PostgresStore(connection.url, { notify: false, max: 1, clock });
  // A reservation ahead would follow the answer of a call, and be taken for a statement of the next call.
  const jobs = new Jobs(store, null, new Ids(store, { reservesAhead: false }));
  await store.load([1]);
  return { connection, jobs };
}

interface StartedCall {
  readonly operation: Operation;
  readonly answer: Promise<unknown>;
}

function start({ connection, jobs }: Connection, call: Call): StartedCall {
  connection.gate();
  const operation: Operation = { connection, isDone: false, isBlocked: false };
  const answer = call(jobs).catch((error: unknown) => {
    if (isRefusal(error)) return error;
    throw error;
  }).finally(() => {
    operation.isDone = true;
    connection.changed.notify();
  });
  answer.catch(() => {}); // awaited at the end of the run
  return { operation, answer };
}
