// The stage on which pairs meet: two stores, each on a line of its own, and a third that nothing disturbs.
import pg from 'pg';
import { Jobs } from '../../../src/jobs.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Job } from '../../../src/model/job.ts';
import { create } from '../../../src/model/machine.ts';
import { isRefusal } from '../../../src/refusal.ts';
import { PostgresStore } from '../../../src/store/postgres/store.ts';
import { VirtualClock } from '../../../src/time/clock.ts';
import { violationText, verify } from '../../../src/verify.ts';
import { GatedLine } from './gated-line.ts';
import { inAllOrders, type Order, type Walker } from './orders.ts';
import type { Deed, Outcome, Pair, Scene } from './pairs.ts';

/** New tasks, not yet stored. */
export async function born(jobs: Jobs, parent: number, count: number): Promise<Change[]> {
  const first = await jobs.store.reserve(count);
  const now = jobs.store.now();
  return Array.from({ length: count }, (_, index) => create({
    id: first + index, created: now, kind: 'task', type: 'plain', def: null, parent, key: `task ${index}`, gate: null,
    unique: null, policy: {}, tags: null, input: '{}', tick: null,
  }, { due: now, priority: 0 }, { by: 'ann', now }));
}

export class Stage implements AsyncDisposable {
  /** The time of all stores: it stands still while orders are tried. */
  readonly #clock: VirtualClock;
  readonly #direct: Jobs;
  readonly #observer: pg.Client;
  readonly #sides: readonly Side[];

  private constructor(clock: VirtualClock, direct: Jobs, observer: pg.Client, sides: readonly Side[]) {
    this.#clock = clock;
    this.#direct = direct;
    this.#observer = observer;
    this.#sides = sides;
  }

  /** In a database of its own. */
  static async on(url: string): Promise<Stage> {
    const observer = new pg.Client({ connectionString: url });
    await observer.connect();
    const clock = new VirtualClock(Date.UTC(2026, 0, 1));
    const direct = new Jobs(new PostgresStore(url, { notify: false, clock }));
    await direct.store.migrate();
    return new Stage(clock, direct, observer, [await openSide(url, clock), await openSide(url, clock)]);
  }

  /** Plays the pair in all orders; answers how many there were, and what was wrong after which. */
  async play({ scene }: Pair): Promise<{ readonly orders: number; readonly wrong: readonly string[] }> {
    const wrong: string[] = [];
    const orders = await inAllOrders(async (order) => {
      await this.#clear();
      const { deeds, wrong: flawOf } = await scene(this.#direct, (ms) => this.#clock.advance(ms));
      const answers = await this.#walk(deeds, order);
      const outcome = await this.#outcome(answers);
      const flaw = flawOf(outcome);
      const flaws = [...(flaw === null ? [] : [flaw]), ...(await this.#violations())];
      wrong.push(...flaws.map((each) => `order ${order.text}: ${each}`));
    });
    return { orders, wrong };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#observer.end();
    await this.#direct.store.close();
    for (const { jobs, line } of this.#sides) {
      await jobs.store.close();
      line.close();
    }
  }

  async #clear(): Promise<void> {
    const tables = ['job', 'ended', 'chunk', 'feed', 'taken', 'staged', 'progress', 'log', 'instance', 'leader'];
    await this.#observer.query(tables.map((table) => `delete from stint.${table}`).join(';'));
  }

  async #walk(deeds: Scene['deeds'], order: Order): Promise<Outcome['answers']> {
    const begun = this.#sides.map((side, index) => begin(side, deeds[index]!));
    await order.walk(begun.map(({ walker }) => walker), this.#observer);
    for (const { line } of this.#sides) line.open();
    return Promise.all(begun.map(({ answer }) => answer)) as unknown as Promise<Outcome['answers']>;
  }

  async #outcome(answers: Outcome['answers']): Promise<Outcome> {
    const { jobs } = await this.#direct.find({}, { order: 'oldest' });
    const historyOf = async ({ id }: Job) => [id, await this.#direct.history(id)] as const;
    const told = new Map(await Promise.all(jobs.map(historyOf)));
    return { answers, jobs, history: (id) => told.get(id) ?? [] };
  }

  async #violations(): Promise<string[]> {
    return (await Array.fromAsync(verify(this.#direct.store, { patienceMs: 0 }))).map(violationText);
  }
}

interface Side {
  readonly line: GatedLine;
  readonly jobs: Jobs;
}

async function openSide(url: string, clock: VirtualClock): Promise<Side> {
  const line = await GatedLine.to(url);
  const jobs = new Jobs(new PostgresStore(line.url, { notify: false, max: 1, prepare: false, clock }));
  await jobs.store.load([1]);
  return { line, jobs };
}

function begin({ line, jobs }: Side, deed: Deed): { readonly walker: Walker; readonly answer: Promise<unknown> } {
  line.gate();
  const walker: Walker = { line, isDone: false };
  const answer = deed(jobs).catch((error: unknown) => {
    if (isRefusal(error)) return error;
    throw error;
  }).finally(() => {
    walker.isDone = true;
  });
  answer.catch(() => {}); // it is waited for at the end of the walk
  return { walker, answer };
}
