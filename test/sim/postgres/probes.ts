// Probes: runs that must start at once, because nothing fails any more. They show when the instances make progress again
// after the faults, and that no job that is due waits for a poll.
import { violation, type Violation } from '../../../src/verify.ts';
import type { Client } from '../clients.ts';
import { probedType } from '../workload.ts';
import type { PostgresBacking } from './backing.ts';

interface Probe {
  readonly job: number;
  /** The earliest and the latest store time at which the run should be due. */
  readonly dueBetween: readonly [from: number, to: number];
}

/** A run that is due starts within this time: messages take a few milliseconds, and instances poll every five seconds. */
const startMaxMs = 1_000;

export class Probes {
  readonly #backing: PostgresBacking;
  readonly #probes: Probe[] = [];
  #failure: string | null = null;

  constructor(backing: PostgresBacking) {
    this.#backing = backing;
  }

  /** Creates runs with these delays. It is the first that the client does, so its process knows no store time yet. */
  async create(client: Client, delaysMs: readonly number[]): Promise<void> {
    const asked = this.#backing.now();
    try {
      const runs = await Promise.all(delaysMs.map((ms) =>
        client.engine.createNamed({ type: probedType }, { delay: `${ms}ms`, priority: 50 })));
      const answered = this.#backing.now();
      runs.forEach(({ id }, index) =>
        this.#probes.push({ job: id, dueBetween: [asked + delaysMs[index]!, answered + delaysMs[index]!] }));
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : 'no error';
    }
  }

  /** When the first probe started, in store time; null: none has. */
  async firstStart(): Promise<number | null> {
    const [probe] = this.#probes;
    return probe ? this.#startOf(probe.job) : null;
  }

  /** S29: the feed has the events of the probes, although a transaction is open in another database. */
  async *checkFeed(cursor: string): AsyncGenerator<Violation> {
    const { events } = await this.#backing.store.eventsAfter(cursor, 100_000);
    const told = new Set(events.map(({ job }) => job));
    for (const { job } of this.#probes) {
      if (!told.has(job)) yield violation('S29', job, `the feed does not have run ${job}, which has ended`);
    }
  }

  /** T3 and L10: the probes became due by the clock of the store, and started at once. */
  async *check(): AsyncGenerator<Violation> {
    if (this.#failure !== null) yield violation('P0', null, `a run could not be created after the faults: ${this.#failure}`);
    for (const { job, dueBetween: [from, to] } of this.#probes) {
      const [created] = await this.#backing.store.history(job);
      const due = created?.kind === 'created' ? created.due : NaN;
      const started = await this.#startOf(job);
      if (!(due >= from - 1 && due <= to + 1)) {
        yield violation('T3', job, `run ${job} is due ${due - from} ms after the time that was asked for`);
      } else if (started === null || started - due > startMaxMs) {
        const late = started === null ? 'has not started' : `started ${started - due} ms late`;
        yield violation('L10', job, `run ${job} ${late}, though nothing failed and instances were idle`);
      }
    }
  }

  async #startOf(job: number): Promise<number | null> {
    const events = await this.#backing.store.history(job);
    return events.find(({ kind }) => kind === 'claimed')?.at ?? null;
  }
}
