/**
 * The backfill: creates runs for the past ticks of a definition that have none. It is a run of a built-in type, so it
 * survives a crash, shows its progress and can be cancelled. At most `concurrency` of its runs are open at a time. While
 * they execute, it polls them; if none ends for a while, it gives its slot back, so that they have one.
 */
import type { Asker } from '../apply.ts';
import {
  backfillBatch, deletedMeanwhile, isRefusedBefore, planBackfill, type BackfillPlan, type TickRange,
} from '../jobs/backfill.ts';
import { RecordedTicks } from '../jobs/recorded-ticks.ts';
import type { Jobs } from '../jobs.ts';
import { backfillTag, type PastTick } from '../model/backfill.ts';
import { definitionOf, specOf } from '../model/definition.ts';
import { isOpen, type Job } from '../model/job.ts';
import { isRefusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import { openStandings, type Standing } from '../store/query.ts';
import { BoundedMap } from '../time/bounded-map.ts';
import type { Clock } from '../time/clock.ts';
import { jobType, type JobType } from './declare/job-type.ts';
import type { Context } from './handler/context.ts';
import { Fail, Snooze } from './handler/errors.ts';

/** `missing`: the ticks without a run. `all`: also those whose run has ended; that run is retried. */
export type BackfillOnly = 'missing' | 'all';
export const backfillOnly: readonly BackfillOnly[] = ['missing', 'all'];

export interface BackfillRequest extends TickRange {
  /** The name and the id of the definition. */
  readonly name: string;
  readonly def: number;
  readonly only: BackfillOnly;
  /** How many runs of the backfill may be open at a time. */
  readonly concurrency: number;
  /** False: the definitions that follow it get no runs. */
  readonly followers?: boolean;
  /** The person who requested it. */
  readonly by: string;
  readonly why: string | null;
  /** Store time of the request: with `all`, runs that have changed since are not retried. */
  readonly asked: number;
}

export interface BackfillOutcome {
  /** How many runs it created, in all attempts. */
  readonly created: number;
  readonly retried: number;
  /** How many ticks the middleware, or the rules of the type, refused to run, in all attempts. */
  readonly refused: number;
  /** How the created runs ended. */
  readonly ended: Readonly<Partial<Record<Standing, number>>>;
}

export const backfillTypeName = 'stint.backfill';

/** The most runs of one commit. */
const batchMax = 200;
const pollMs = 50;
const pollMaxMs = 1_000;
/** After so many polls of runs of which none has ended, the slot is given back. */
const pollsMax = 4;
const snoozeMinMs = 250;
const snoozeMaxMs = 30_000;
/** How many interrupted backfills an instance remembers, so that the next attempt need not read the history again. */
const rememberedMax = 16;

interface Needs {
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly remembered: BoundedMap<number, RecordedTicks>;
}

export function backfillType(jobs: Jobs, clock: Clock): JobType<BackfillRequest, BackfillOutcome> {
  const needs = { jobs, clock, remembered: new BoundedMap<number, RecordedTicks>(rememberedMax) };
  return jobType(backfillTypeName, {
    retry: { attempts: 5, crashes: 100 },
    run: (context) => new Backfill(needs, context, context.input as BackfillRequest).work(),
  });
}

class Backfill {
  readonly #needs: Needs;
  readonly #context: Context;
  readonly #request: BackfillRequest;
  readonly #recorded: RecordedTicks;
  readonly #asker: Asker;
  /** The open runs of this backfill. */
  readonly #open = new Set<number>();

  constructor(needs: Needs, context: Context, request: BackfillRequest) {
    const { id } = context.run;
    this.#needs = needs;
    this.#context = context;
    this.#request = request;
    this.#recorded = needs.remembered.getOrSet(id, () => new RecordedTicks(request.from, request.to));
    this.#asker = { by: request.by, why: `${request.why ?? 'backfill'} (operation ${id})` };
  }

  async work(): Promise<BackfillOutcome> {
    const { progress, run } = this.#context;
    const { missing, existing } = await this.#plan();
    const before = this.#recorded.runsOf(run.id).length;
    const old = this.#request.only === 'all' ? existing.filter(({ backfill }) => backfill !== run.id) : [];
    await this.#findOpen();
    progress.startingStage('create runs', { total: before + missing.length + old.length, onFailure: 'SKIP_ITEM' });
    for (let count = 0; count < before; count++) this.#count();
    let retried = 0;
    for (let next = 0; next < missing.length; ) {
      const room = await this.#room();
      const ticks = missing.slice(next, next + Math.min(room, batchMax));
      for (const id of await this.#create(ticks)) this.#open.add(id);
      next += ticks.length;
      for (const tick of ticks) this.#count(tick);
    }
    for (const { run: id } of old) {
      await this.#room();
      if (await this.#retry(id)) retried += 1;
      this.#count();
    }
    while (this.#open.size > 0) await this.#untilEnd();
    await this.#readOn();
    const created = this.#recorded.runsOf(run.id).length;
    const refused = this.#recorded.refusedTo(run.id).length;
    progress.completedStage(`${created} created`);
    this.#needs.remembered.delete(run.id);
    return { created, retried, refused, ended: await this.#ended() };
  }

  /** Refuses a deleted definition if ticks are missing: nobody wants their runs. If none is, the runs are waited for. */
  async #plan(): Promise<BackfillPlan> {
    try {
      const def = await this.#readOn();
      if (def === null) throw deletedMeanwhile(this.#request.def);
      const plan = planBackfill(def, specOf(definitionOf(def)), this.#recorded, this.#request);
      const { id } = this.#context.run;
      const missing = plan.missing.filter((tick) => !isRefusedBefore(this.#recorded, tick, id));
      if (missing.length > 0 && !isOpen(def)) throw deletedMeanwhile(def.id);
      return { ...plan, missing };
    } catch (error) {
      throw lasting(error);
    }
  }

  /** Reads what was recorded since the last call; returns the definition, which may be deleted. Null: it is purged, too. */
  async #readOn(): Promise<Job | null> {
    const { jobs: { store } } = this.#needs;
    const [def] = await store.load([this.#request.def]);
    if (def !== undefined) await this.#recorded.readOn(store, def);
    return def ?? null;
  }

  /** The open runs that earlier attempts created. */
  async #findOpen(): Promise<void> {
    const { jobs } = this.#needs;
    const query = {
      kinds: ['run'], def: this.#request.name, standings: openStandings, tags: { [backfillTag]: String(this.#context.run.id) },
    } as const;
    for await (const page of pagesOf(jobs, query)) for (const { id } of page) this.#open.add(id);
  }

  async #create(ticks: readonly PastTick[]): ReturnType<typeof backfillBatch> {
    const { def, followers = true } = this.#request;
    const batch = { def, ticks, followers, backfill: this.#context.run.id, recorded: this.#recorded };
    try {
      return await backfillBatch(this.#needs.jobs, batch, this.#asker);
    } catch (error) {
      throw lasting(error);
    }
  }

  /** Retries a run that has ended and not changed since the request; returns whether it did. */
  async #retry(id: number): Promise<boolean> {
    const { jobs } = this.#needs;
    const run = await jobs.get(id);
    if (run === null || isOpen(run) || run.changed > this.#request.asked) {
      // An earlier attempt may have retried it.
      if (run !== null && isOpen(run)) this.#open.add(id);
      return false;
    }
    try {
      await jobs.retry(id, this.#asker);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#context.log.warn(`cannot retry run ${id}: ${error.message}`);
      return false;
    }
    this.#open.add(id);
    return true;
  }

  /** Waits until fewer runs than `concurrency` are open; returns how many more may be. */
  async #room(): Promise<number> {
    const { concurrency } = this.#request;
    this.#context.signal.throwIfAborted();
    while (this.#open.size >= concurrency) await this.#untilEnd();
    return concurrency - this.#open.size;
  }

  /** Waits until an open run has ended. Gives the slot back if none does for a while. */
  async #untilEnd(): Promise<void> {
    const { jobs, clock } = this.#needs;
    const { signal } = this.#context;
    let newest = 0;
    for (let poll = 0; poll < pollsMax; poll++) {
      signal.throwIfAborted();
      const open = (await jobs.store.load([...this.#open])).filter(isOpen);
      const isLess = open.length < this.#open.size;
      this.#open.clear();
      for (const { id } of open) this.#open.add(id);
      if (isLess || open.length === 0) return;
      newest = Math.max(...open.map(({ created }) => created));
      await clock.sleep(Math.min(pollMaxMs, Math.max(pollMs, open.length) * 2 ** poll), signal);
    }
    const waitedMs = jobs.store.now() - newest;
    throw new Snooze(`${Math.round(Math.min(snoozeMaxMs, Math.max(snoozeMinMs, waitedMs / 4)))}ms`);
  }

  #count(tick?: PastTick): void {
    const { progress } = this.#context;
    progress.startingItem(tick && new Date(tick.nominal).toISOString());
    progress.completedItem();
  }

  async #ended(): Promise<BackfillOutcome['ended']> {
    const tags = { [backfillTag]: String(this.#context.run.id) };
    const tallies = await this.#needs.jobs.count({ kinds: ['run'], def: this.#request.name, tags });
    return Object.fromEntries(tallies.map(({ standing, count }) => [standing, count]));
  }
}

/** A refusal of the request itself: no further attempt can succeed. */
const lasting = (error: unknown): unknown =>
  (isRefusal(error) && (error.code === 'unknown.definition' || error.code === 'malformed.range')
    ? new Fail(error.message, { cause: error })
    : error);
