/**
 * Watching: reads what ended since the cursor and what is late or running now, advances the states of the alerts, and
 * creates the messages. The new states, the messages and the cursor are written in one commit, so that a crash neither
 * loses a change of state nor sends it twice.
 */
import { commitMemos } from '../apply.ts';
import {
  alertTypeName, definitionOf, forgetOld, observeEnds, observeRuns, subjectOf, takeMessage, watcherOf, type AlertMessage,
  type AlertState, type ObservedEnd, type ObservedRuns,
} from '../model/alert.ts';
import type { Job } from '../model/job.ts';
import { pagesOf } from '../store/paging.ts';
import type { FeedEvent, FeedPage, MemoWrite, Store } from '../store/store.ts';
import { cursorName, cursorOf, readAlerts, stateWrite, type AlertRecord } from './alerts.ts';
import { definitionsNamed } from './define.ts';
import type { Draft } from './draft.ts';
import { newJobs, type Producer } from './new-jobs.ts';

const eventsPage = 1_000;
const lateMax = 1_000;
const patienceMs = 1_000;
const idle: Watched = { cursorVersion: null, hasMore: false };

export interface Watched {
  /** The version of the cursor that was read; null: there are no alerts. */
  readonly cursorVersion: number | null;
  /** Whether more events wait to be read. */
  readonly hasMore: boolean;
}

/**
 * Makes one turn: reads up to a page of events. `mayAct` gets the version of the cursor; if it returns false, only the
 * alerts are read. If another instance writes the cursor meanwhile, nothing of this turn is written.
 */
export async function watchRuns(producer: Producer, by: string, mayAct: (cursorVersion: number) => boolean): Promise<Watched> {
  const { store } = producer;
  const { alerts, cursor } = await readAlerts(store);
  if (cursor === null || alerts.length === 0) return idle;
  if (!mayAct(cursor.version)) return { cursorVersion: cursor.version, hasMore: false };
  const page = await store.eventsAfter(cursorOf(cursor), eventsPage);
  const hasMore = page.events.length >= eventsPage;
  const enabled = alerts.filter(({ spec }) => spec.enabled);
  const ends = await endsOf(store, enabled, page);
  const now = store.now();
  const waiting = new WaitingRuns(store, enabled, now);
  const turns = await Promise.all(enabled.map(async (alert) => turnOf(alert, await observed(waiting, alert, ends, hasMore), now)));
  const states = turns.flatMap(({ write }) => write ?? []);
  if (states.length === 0 && page.events.length === 0) return { cursorVersion: cursor.version, hasMore };
  // The cursor is written with every state: its version tells an alert from one of the same name that was created anew.
  const writes = [...states, cursorWrite(cursor, page)];
  const messages = turns.flatMap(({ message }) => message ?? []);
  const runs = messages.length === 0 ? [] : await newJobs(producer, messages.map(messageDraft), by);
  const isWritten = await commitMemos(store, writes, runs);
  return { cursorVersion: cursor.version, hasMore: hasMore && isWritten };
}

/** The run that sends a message. It is retried for about a day. */
export const messageDraft = (message: AlertMessage): Draft => ({
  type: alertTypeName,
  input: message,
  tags: { alert: message.alert },
  policy: { attemptsMax: 100, backoff: 'exponential', baseMs: 2_000, maxMs: 900_000, jitter: 0.2, crashesMax: 1_000 },
});

const cursorWrite = ({ version, value }: { readonly version: number; readonly value: string }, { events, cursor }: FeedPage): MemoWrite =>
  ({ name: cursorName, version, value: events.length === 0 ? value : JSON.stringify({ cursor }) });

interface AlertTurn {
  readonly write: MemoWrite | null;
  readonly message: AlertMessage | null;
}

function turnOf(alert: AlertRecord, observedState: AlertState, now: number): AlertTurn {
  const { state, message } = takeMessage(forgetOld(observedState, alert.spec, now), { name: alert.name, everyMs: alert.spec.everyMs }, now);
  return { write: isEqual(state, alert.state) ? null : stateWrite(alert, state), message };
}

const isEqual = (a: AlertState, b: AlertState): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

async function observed(waiting: WaitingRuns, alert: AlertRecord, ends: readonly EndedRun[], isBehind: boolean): Promise<AlertState> {
  const { spec, state, since } = alert;
  const isWatched = watcherOf(spec);
  if ('failedInARow' in spec.when) {
    return observeEnds(state, spec, ends.filter((end) => end.at >= since && isWatched(end.job)));
  }
  return isBehind ? state : observeRuns(state, spec, await waiting.of(alert, isWatched));
}

type RunNames = Pick<Job, 'def' | 'type' | 'tags'>;
interface EndedRun extends ObservedEnd {
  readonly job: RunNames;
}

/**
 * Returns the ends of runs that may change a state, in order. A success matters only if its type has a failing subject, or
 * has a failure on this page; so the runs of a system without failures are not loaded.
 */
async function endsOf(store: Store, alerts: readonly AlertRecord[], { events }: FeedPage): Promise<readonly EndedRun[]> {
  if (!alerts.some(({ spec }) => 'failedInARow' in spec.when)) return [];
  const ended = events.filter((each) => each.kind === 'run' && isEnd(each) && each.type !== alertTypeName);
  const failing = new Set([
    ...alerts.flatMap(({ state }) => Object.values(state.subjects).map(({ type }) => type)),
    ...ended.filter(({ event }) => event.kind === 'failed').map(({ type }) => type),
  ]);
  if (ended.some(({ type }) => !failing.has(type))) for (const type of await typesOf(store, alerts)) failing.add(type);
  const relevant = ended.filter(({ type }) => failing.has(type));
  if (relevant.length === 0) return [];
  const jobs = new Map((await store.load([...new Set(relevant.map(({ job }) => job))])).map((job) => [job.id, job]));
  // Of a run that was deleted meanwhile, nobody knows the definition any more.
  return relevant.flatMap((each) => (jobs.has(each.job) ? [endOf(each, jobs.get(each.job)!)] : []));
}

/** The types that failing definitions have now: it may be another one than that of the runs that failed. */
async function typesOf(store: Store, alerts: readonly AlertRecord[]): Promise<readonly string[]> {
  const subjects = alerts.flatMap(({ state }) => Object.keys(state.subjects));
  const names = [...new Set(subjects.flatMap((subject) => definitionOf(subject) ?? []))];
  return [...(await definitionsNamed(store, names)).values()].map(({ spec }) => spec.type);
}

const isEnd = ({ event }: FeedEvent): boolean => event.kind === 'succeeded' || event.kind === 'failed';

const endOf = ({ job: run, type, event }: FeedEvent, job: RunNames): EndedRun => ({
  job, subject: subjectOf(job), type, run, at: event.at, hasFailed: event.kind === 'failed',
  error: event.kind === 'failed' ? event.error.message : null,
});

interface FoundRuns {
  readonly jobs: readonly Job[];
  /** The types of which further runs were not read. */
  readonly cutTypes: ReadonlySet<string>;
}

/** The runs that are late or take long at a moment. All alerts of a turn share one search for each. */
class WaitingRuns {
  readonly #store: Store;
  readonly #alerts: readonly AlertRecord[];
  readonly #now: number;
  #late: Promise<FoundRuns> | null = null;
  #long: Promise<FoundRuns> | null = null;

  constructor(store: Store, alerts: readonly AlertRecord[], now: number) {
    this.#store = store;
    this.#alerts = alerts;
    this.#now = now;
  }

  /** What an alert observes. */
  async of(alert: AlertRecord, isWatched: (job: Job) => boolean): Promise<ObservedRuns> {
    const { spec: { when } } = alert;
    const isLate = 'lateMs' in when;
    const before = this.#now - (isLate ? when.lateMs : 'longerThanMs' in when ? when.longerThanMs : 0);
    const { jobs, cutTypes } = await (isLate ? (this.#late ??= this.#findLate()) : (this.#long ??= this.#findLong()));
    const isOld = (job: Job): boolean => (isLate ? job.due : job.startedAt!) < before;
    const runs = jobs.filter((job) => job.type !== alertTypeName && isOld(job) && isWatched(job))
      .map((job) => ({ subject: subjectOf(job), type: job.type, run: job.id }));
    return { runs, unknown: await this.#unknown(alert, new Set(runs.map(({ subject }) => subject)), cutTypes, before), at: this.#now };
  }

  /** Of a type with more late runs than were read: the subjects that may have one among the others. */
  async #unknown(
    { spec: { tags }, state }: AlertRecord, seen: ReadonlySet<string>, cutTypes: ReadonlySet<string>, before: number,
  ): Promise<ReadonlySet<string>> {
    const asked = Object.entries(state.subjects).filter(([subject, { type }]) => cutTypes.has(type) && !seen.has(subject));
    const answers = await Promise.all(asked.map(async ([subject]) => {
      const def = definitionOf(subject);
      if (def === null) return subject;
      const query = { kinds: ['run'], def, standings: ['pending'], dueBefore: before, tags } as const;
      const { jobs, next } = await this.#store.find(query, { limit: 1, patienceMs });
      return jobs.length > 0 || next !== null ? subject : null;
    }));
    return new Set(answers.filter((subject) => subject !== null));
  }

  /** The shortest time of an alert; the others find their runs among those. */
  #since(timeOf: (when: AlertRecord['spec']['when']) => number | null): number {
    return this.#now - Math.min(...this.#alerts.flatMap(({ spec }) => timeOf(spec.when) ?? []));
  }

  /** Runs that were due and have not started. An index says which types have any. */
  async #findLate(): Promise<FoundRuns> {
    const before = this.#since((when) => ('lateMs' in when ? when.lateMs : null));
    const oldest = await this.#store.oldestDue({ kinds: ['run'], names: { glob: '*' } });
    const types = [...oldest].filter(([, { due }]) => due < before).map(([type]) => type);
    const pages = await Promise.all(types.map(async (type) => ({ type, ...(await this.#store.find(
      { kinds: ['run'], types: [type], standings: ['pending'], dueBefore: before },
      { order: 'oldest', limit: lateMax, patienceMs },
    )) })));
    return {
      jobs: pages.flatMap(({ jobs }) => jobs),
      cutTypes: new Set(pages.filter(({ next }) => next !== null).map(({ type }) => type)),
    };
  }

  /**
   * Runs that started and have not ended: those that run, and those with a running task. There are at most as many as all
   * instances have slots.
   */
  async #findLong(): Promise<FoundRuns> {
    const running = (await Array.fromAsync(pagesOf(this.#store, { kinds: ['run', 'task'], standings: ['running'] }))).flat();
    const parents = new Set(running.flatMap(({ kind, parent }) => (kind === 'task' && parent !== null ? [parent] : [])));
    const runs = [...running.filter(({ kind }) => kind === 'run'), ...(parents.size === 0 ? [] : await this.#store.load([...parents]))];
    return { jobs: runs.filter(({ startedAt }) => startedAt !== null), cutTypes: new Set() };
  }
}
