/**
 * Watching: reads what ended since the cursor and what is late or running now, advances the states of the alerts, and
 * creates the messages. The new states, the messages and the cursor are written in one commit, so that a crash neither
 * loses a change of state nor sends it twice.
 */
import { commitMemos } from '../apply.ts';
import {
  alertTypeName, observeEnds, observeRuns, subjectOf, takeMessage, watcherOf, type AlertMessage, type AlertState, type ObservedEnd,
} from '../model/alert.ts';
import type { Job } from '../model/job.ts';
import { pagesOf } from '../store/paging.ts';
import type { FeedEvent, FeedPage, MemoWrite, Store } from '../store/store.ts';
import { cursorName, cursorOf, readAlerts, stateWrite, type AlertRecord } from './alerts.ts';
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
  if (cursor === null) return idle;
  if (!mayAct(cursor.version)) return { cursorVersion: cursor.version, hasMore: false };
  const page = await store.eventsAfter(cursorOf(cursor), eventsPage);
  const hasMore = page.events.length >= eventsPage;
  const enabled = alerts.filter(({ spec }) => spec.enabled);
  const ends = await endsOf(store, enabled, page);
  const now = store.now();
  const turns = await Promise.all(enabled.map(async (alert) => turnOf(alert, await observed(store, alert, ends, now, hasMore), now)));
  const writes = [...turns.flatMap(({ write }) => write ?? []), ...cursorWrite(cursor, page)];
  if (writes.length === 0) return { cursorVersion: cursor.version, hasMore };
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

function cursorWrite(cursor: { readonly version: number; readonly value: string }, page: FeedPage): MemoWrite[] {
  const value = JSON.stringify({ cursor: page.cursor });
  return page.events.length === 0 || value === cursor.value ? [] : [{ name: cursorName, version: cursor.version, value }];
}

interface AlertTurn {
  readonly write: MemoWrite | null;
  readonly message: AlertMessage | null;
}

function turnOf(alert: AlertRecord, observedState: AlertState, now: number): AlertTurn {
  const { state, message } = takeMessage(observedState, { name: alert.name, everyMs: alert.spec.everyMs }, now);
  return { write: isEqual(state, alert.state) ? null : stateWrite(alert, state), message };
}

const isEqual = (a: AlertState, b: AlertState): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

async function observed(store: Store, alert: AlertRecord, ends: readonly EndedRun[], now: number, isBehind: boolean): Promise<AlertState> {
  const { spec, state, since } = alert;
  const isWatched = watcherOf(spec);
  if ('failedInARow' in spec.when) {
    return observeEnds(state, spec, ends.filter((end) => end.at >= since && isWatched(end.job)));
  }
  if (isBehind) return state;
  const { jobs, isWhole } = 'lateMs' in spec.when
    ? await lateRuns(store, now - spec.when.lateMs) : await longRuns(store, now - spec.when.longerThanMs);
  const runs = jobs.filter((job) => job.type !== alertTypeName && isWatched(job));
  return observeRuns(state, spec, {
    runs: runs.map((job) => ({ subject: subjectOf(job), type: job.type, run: job.id })), isWhole, at: now,
  });
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
  const relevant = ended.filter(({ type }) => failing.has(type));
  if (relevant.length === 0) return [];
  const jobs = new Map((await store.load([...new Set(relevant.map(({ job }) => job))])).map((job) => [job.id, job]));
  return relevant.map((each) => endOf(each, jobs.get(each.job) ?? { def: null, type: each.type, tags: null }));
}

const isEnd = ({ event }: FeedEvent): boolean => event.kind === 'succeeded' || event.kind === 'failed';

const endOf = ({ job: run, type, event }: FeedEvent, job: RunNames): EndedRun => ({
  job, subject: subjectOf(job), type, run, at: event.at, hasFailed: event.kind === 'failed',
  error: event.kind === 'failed' ? event.error.message : null,
});

interface FoundRuns {
  readonly jobs: readonly Job[];
  /** Whether these are all; if not, nothing is known about the others. */
  readonly isWhole: boolean;
}

/** Runs that were due before `before` and have not started. An index says which types have any. */
async function lateRuns(store: Store, before: number): Promise<FoundRuns> {
  const oldest = await store.oldestDue({ kinds: ['run'], names: { glob: '*' } });
  const types = [...oldest].filter(([, { due }]) => due < before).map(([type]) => type);
  const pages = await Promise.all(types.map((type) => store.find(
    { kinds: ['run'], types: [type], standings: ['pending'], dueBefore: before },
    { order: 'oldest', limit: lateMax, patienceMs },
  )));
  return { jobs: pages.flatMap(({ jobs }) => jobs), isWhole: pages.every(({ next }) => next === null) };
}

/**
 * Runs that started before `before` and have not ended: those that run, and those with a running task. There are at most
 * as many as all instances have slots.
 */
async function longRuns(store: Store, before: number): Promise<FoundRuns> {
  const running = (await Array.fromAsync(pagesOf(store, { kinds: ['run', 'task'], standings: ['running'] }))).flat();
  const parents = new Set(running.flatMap(({ kind, parent }) => (kind === 'task' && parent !== null ? [parent] : [])));
  const runs = [...running.filter(({ kind }) => kind === 'run'), ...(parents.size === 0 ? [] : await store.load([...parents]))];
  return { jobs: runs.filter(({ startedAt }) => startedAt !== null && startedAt < before), isWhole: true };
}
