/**
 * The alert: watches runs, and decides when the state of what it watches changes and what is sent about it. Pure: takes
 * a state and what was observed, and returns the next state.
 *
 * A *subject* is what has a state: the definition of a run, or the type of a run without a definition. It is failing or
 * not; each change of state has a number. The changes since the last message wait in `pending`, one entry per subject, and
 * the next message takes them all. So each change is in exactly one message, however many there are.
 */
import { matches, parseGlob, type Glob } from './glob.ts';
import type { Job, Tags } from './job.ts';
import { withoutSecrets } from './secrets.ts';

/** The type of the runs that send messages. Alerts do not watch it. */
export const alertTypeName = 'stint.alert';

/** What an alert watches, when it sends, and where to. Durations are in ms. */
export interface AlertSpec {
  /** Patterns of definitions and types, as in `billing.*`. A run is watched if one of either list matches, or both are empty. */
  readonly definitions: readonly string[];
  readonly types: readonly string[];
  /** A watched run has all of these tags. */
  readonly tags: Tags;
  readonly when: AlertCondition;
  readonly to: AlertTarget;
  /** Whether the return to normal is sent. */
  readonly recovered: boolean;
  /** The shortest time between two messages. */
  readonly everyMs: number;
  readonly enabled: boolean;
}

export type AlertCondition =
  | { readonly failedInARow: number }
  | { readonly lateMs: number }
  | { readonly longerThanMs: number };

/** Where messages go: a URL, of which all but the host may be secret. */
export type AlertTarget =
  | { readonly webhook: string }
  | { readonly slack: string };

/** What an alert stores. */
export interface AlertContent {
  readonly name: string;
  /** The values in the code; null: no program has declared the alert. */
  readonly code: AlertSpec | null;
  /** What an operator has set; survives deploys. */
  readonly override: Partial<AlertSpec> | null;
  readonly by: string | null;
  readonly why: string | null;
  /** Events before this time are not observed. */
  readonly since: number;
  readonly state: AlertState;
}

export interface AlertState {
  /** The subjects that are failing, or on the way to it. */
  readonly subjects: Readonly<Record<string, AlertSubject>>;
  /** The number of the last change of state. */
  readonly changes: number;
  /** The number of the last change that a message contains. */
  readonly sentChanges: number;
  /** The number of the last message, and when it was made. */
  readonly messages: number;
  readonly sentAt: number | null;
  readonly pending: Readonly<Record<string, PendingChange>>;
}

export interface AlertSubject {
  /** The type of its runs. */
  readonly type: string;
  /** How many runs have failed since the last success. */
  readonly failures: number;
  /** Null: not failing yet. */
  readonly since: number | null;
  /** When it was last seen failing; absent in states of earlier versions. */
  readonly lastAt?: number;
}

/** The changes of a subject since the last message. */
export interface PendingChange {
  readonly subject: string;
  readonly isFailing: boolean;
  /** The number of the last of them, and how many they are. */
  readonly change: number;
  readonly count: number;
  readonly at: number;
  /** The run that caused the last change to failing. */
  readonly run: number | null;
  readonly error: string | null;
}

/** A message: the changes of state from number `from` to `to`. `changes` has the first of the subjects, at most `changesMax`. */
export interface AlertMessage {
  readonly alert: string;
  readonly number: number;
  readonly at: number;
  readonly isTest: boolean;
  readonly from: number;
  readonly to: number;
  /** How many subjects are failing now, of those in this message, and how many recovered. */
  readonly failing: number;
  readonly recovered: number;
  readonly changes: readonly PendingChange[];
}

export const noAlertState: AlertState =
  { subjects: {}, changes: 0, sentChanges: 0, messages: 0, sentAt: null, pending: {} };

/** How many subjects a message lists; the others are counted. */
export const changesMax = 20;
const errorMax = 200;

/** The values that apply: the override over the code. An alert that no code declares has all of them as its override. */
export const specOfAlert = ({ code, override }: Pick<AlertContent, 'code' | 'override'>): AlertSpec =>
  ({ ...code, ...override }) as AlertSpec;

const definitionPrefix = 'definition ';

export const subjectOf = ({ def, type }: Pick<Job, 'def' | 'type'>): string =>
  (def === null ? `type ${type}` : `${definitionPrefix}${def}`);

/** The name of the definition that a subject is; null: it is a type. */
export const definitionOf = (subject: string): string | null =>
  (subject.startsWith(definitionPrefix) ? subject.slice(definitionPrefix.length) : null);

/** Returns whether an alert watches a run. */
export function watcherOf({ definitions, types, tags }: AlertSpec): (run: Pick<Job, 'def' | 'type' | 'tags'>) => boolean {
  const [ofDefs, ofTypes] = [definitions.map(parseGlob), types.map(parseGlob)];
  const isNamed = (globs: readonly Glob[], name: string): boolean => globs.some((glob) => matches(glob, name));
  const watchesAll = definitions.length + types.length === 0;
  return (run) =>
    (watchesAll || (run.def !== null && isNamed(ofDefs, run.def)) || isNamed(ofTypes, run.type)) &&
    Object.entries(tags).every(([name, value]) => run.tags?.[name] === value);
}

/** The end of a watched run. */
export interface ObservedEnd {
  readonly subject: string;
  readonly type: string;
  readonly run: number;
  readonly at: number;
  readonly hasFailed: boolean;
  readonly error: string | null;
}

/** Counts the ends of runs, in order: n failures in a row make a subject failing, a success ends it. */
export function observeEnds(state: AlertState, spec: AlertSpec, ends: readonly ObservedEnd[]): AlertState {
  if (!('failedInARow' in spec.when) || ends.length === 0) return state;
  const next = changing(state);
  for (const end of ends) {
    if (end.hasFailed) countFailure(next, end, spec.when.failedInARow);
    else recover(next, spec, end);
  }
  return next;
}

/** A run that is late, or takes too long, at this moment. */
export type ObservedRun = Pick<ObservedEnd, 'subject' | 'type' | 'run'>;

export interface ObservedRuns {
  readonly runs: readonly ObservedRun[];
  /** Of these subjects it is not known whether they have a run; of all others, `runs` has one if there is any. */
  readonly unknown: ReadonlySet<string>;
  readonly at: number;
}

/** Compares what is late or takes too long now with what was: a subject without such a run has recovered. */
export function observeRuns(state: AlertState, spec: AlertSpec, { runs, unknown, at }: ObservedRuns): AlertState {
  const next = changing(state);
  const seen = new Set(runs.map(({ subject }) => subject));
  for (const subject of Object.keys(state.subjects)) {
    if (!seen.has(subject) && !unknown.has(subject)) recover(next, spec, { subject, at });
  }
  for (const run of runs) if (!(run.subject in next.subjects)) countFailure(next, { ...run, at, error: null }, 1);
  return next;
}

/** A subject that was not seen failing for so long is forgotten: most likely it does not exist any more. */
const forgottenMs = 30 * 86_400_000;

/** Forgets failures in a row that nothing has followed for a month, such as those of a definition that was deleted. */
export function forgetOld(state: AlertState, spec: AlertSpec, at: number): AlertState {
  if (!('failedInARow' in spec.when)) return state;
  const isKept = ({ lastAt, since }: AlertSubject): boolean => at - (lastAt ?? since ?? at) < forgottenMs;
  const subjects = Object.entries(state.subjects);
  const kept = subjects.filter(([, subject]) => isKept(subject));
  return kept.length === subjects.length ? state : { ...state, subjects: Object.fromEntries(kept) };
}

/** Makes the message of all pending changes, if there are any and the last message is long enough ago. */
export function takeMessage(
  state: AlertState,
  { name, everyMs }: Pick<AlertSpec, 'everyMs'> & { readonly name: string },
  at: number,
): { readonly state: AlertState; readonly message: AlertMessage | null } {
  const pending = Object.values(state.pending).sort((a, b) => a.change - b.change);
  if (pending.length === 0 || (state.sentAt !== null && at < state.sentAt + everyMs)) return { state, message: null };
  const number = state.messages + 1;
  const failing = pending.filter(({ isFailing }) => isFailing).length;
  const message = {
    alert: name, number, at, isTest: false, from: state.sentChanges + 1, to: state.changes, failing,
    recovered: pending.length - failing, changes: pending.slice(0, changesMax),
  };
  return { state: { ...state, messages: number, sentAt: at, sentChanges: state.changes, pending: {} }, message };
}

/** A state that is being changed; copied once, because a page of the feed may have changes of thousands of subjects. */
interface ChangingState extends Omit<AlertState, 'subjects' | 'pending' | 'changes'> {
  subjects: Record<string, AlertSubject>;
  pending: Record<string, PendingChange>;
  changes: number;
}

const changing = (state: AlertState): ChangingState =>
  ({ ...state, subjects: { ...state.subjects }, pending: { ...state.pending } });

function countFailure(next: ChangingState, { subject, type, run, at, error }: Omit<ObservedEnd, 'hasFailed'>, enough: number): void {
  const before = next.subjects[subject] ?? { type, failures: 0, since: null };
  const failures = before.failures + 1;
  const isNew = before.since === null && failures >= enough;
  next.subjects[subject] = { ...before, failures, since: isNew ? at : before.since, lastAt: at };
  if (isNew) change(next, { subject, isFailing: true, at, run, error: error && withoutSecrets(error).slice(0, errorMax) });
}

function recover(next: ChangingState, spec: AlertSpec, { subject, at }: Pick<ObservedEnd, 'subject' | 'at'>): void {
  const before = next.subjects[subject];
  if (before === undefined) return;
  delete next.subjects[subject];
  if (before.since === null || !spec.recovered) return;
  change(next, { subject, isFailing: false, at, run: next.pending[subject]?.run ?? null, error: null });
}

function change(next: ChangingState, changed: Omit<PendingChange, 'change' | 'count'>): void {
  next.changes += 1;
  const count = (next.pending[changed.subject]?.count ?? 0) + 1;
  next.pending[changed.subject] = { ...changed, change: next.changes, count };
}
