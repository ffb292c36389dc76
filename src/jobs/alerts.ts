/**
 * Alerts: stored as memos, because their state changes with what they watch, and their target is a secret that no
 * history may show. One more memo is the cursor: how far they have read the feed. It is never deleted, so that its version
 * tells an alert from an earlier one of the same name.
 */
import { commitMemos } from '../apply.ts';
import { noAlertState, specOfAlert, type AlertContent, type AlertSpec } from '../model/alert.ts';
import { Refusal } from '../refusal.ts';
import type { Memo, MemoWrite, Store } from '../store/store.ts';
import { decodedMemos } from './decoded-memos.ts';

export interface AlertRecord extends AlertContent {
  readonly spec: AlertSpec;
  /** The version of its memo. */
  readonly version: number;
}

export interface StoredAlerts {
  readonly alerts: readonly AlertRecord[];
  readonly cursor: Memo | null;
}

const prefix = 'alert';
const namePrefix = 'alert/';
export const cursorName = 'alert-cursor';
const triesMax = 50;

/** Reads all alerts and their cursor. Refuses alerts that this process cannot decode. */
export async function readAlerts(store: Pick<Store, 'memos'>): Promise<StoredAlerts> {
  const memos = await decodedMemos(store, prefix, 'alerts');
  return {
    alerts: memos.filter(({ name }) => name.startsWith(namePrefix)).map(recordOf),
    cursor: memos.find(({ name }) => name === cursorName) ?? null,
  };
}

export async function readAlert(store: Pick<Store, 'memos'>, name: string): Promise<AlertRecord> {
  const found = (await readAlerts(store)).alerts.find((alert) => alert.name === name);
  if (found === undefined) throw unknownAlert(name);
  return found;
}

/** What is stored of an alert besides its name and its state. */
export type AlertChange = Pick<AlertContent, 'code' | 'override' | 'by' | 'why'>;

/**
 * Writes alerts in one commit. `changeOf` returns the new values of an alert, or null to delete it; it is called again
 * after a conflict. An alert whose values do not change is not written. One that watches something else, or in another way,
 * starts with a new state.
 */
export async function writeAlerts(
  store: Store,
  names: readonly string[],
  changeOf: (name: string, before: AlertRecord | null) => AlertChange | null,
): Promise<void> {
  for (let tries = 0; tries < triesMax; tries++) {
    // The end of the feed is read before the alerts: whatever happens after the alert exists comes after the cursor.
    const end = await store.feedEnd();
    const { alerts, cursor } = await readAlerts(store);
    const known = new Map(alerts.map((alert) => [alert.name, alert]));
    const writes = names.flatMap((name) => writeOf(name, known.get(name) ?? null, changeOf, store.now()));
    if (writes.length === 0) return;
    const left = alerts.length + writes.reduce((sum, { version, value }) => sum + (value === null ? -1 : version === 0 ? 1 : 0), 0);
    if (await commitMemos(store, [...writes, ...cursorWrites(cursor, end, alerts.length, left)])) return;
  }
  throw new Refusal('contended', 'the alerts changed again and again while they were written: try again');
}

function writeOf(
  name: string,
  before: AlertRecord | null,
  changeOf: (name: string, before: AlertRecord | null) => AlertChange | null,
  now: number,
): MemoWrite[] {
  const change = changeOf(name, before);
  const write = { name: `${namePrefix}${name}`, version: before?.version ?? 0 };
  if (change === null) return before === null ? [] : [{ ...write, value: null }];
  const isSame = before !== null && watchText(before.spec) === watchText(specOfAlert(change));
  const state = isSame ? { since: before.since, state: before.state } : { since: now, state: restarted(before) };
  const value = valueOf({ name, ...change, ...state });
  return before !== null && value === valueOf(before) ? [] : [{ ...write, value }];
}

/** The numbers of changes and messages go on, so that none is used twice for one alert. */
const restarted = (before: AlertRecord | null): AlertContent['state'] =>
  (before === null ? noAlertState : { ...before.state, subjects: {}, pending: {}, sentChanges: before.state.changes });

const watchText = ({ definitions, types, tags, when, enabled }: AlertSpec): string =>
  JSON.stringify([definitions, types, tags, when, enabled]);

/** The value of the memo of an alert. */
export const valueOf = ({ name, code, override, by, why, since, state }: AlertContent): string =>
  JSON.stringify({ name, code, override, by, why, since, state });

/**
 * The cursor is written with every change of alerts, because a watcher may have read the alerts as they were before, and then
 * events that came after the change. Its commit now finds another version of the cursor, and it reads those events again.
 */
function cursorWrites(cursor: Memo | null, end: string, before: number, left: number): MemoWrite[] {
  const isFirst = cursor === null || before === 0;
  const value = left === 0 ? unused : isFirst ? JSON.stringify({ cursor: end }) : cursor.value;
  return cursor === null && left === 0 ? [] : [{ name: cursorName, version: cursor?.version ?? 0, value }];
}

/** The cursor while there are no alerts. */
const unused = JSON.stringify({ cursor: null });

export const isInUse = ({ value }: Memo): boolean => value !== unused;

/** Returns the write that puts the state of an alert into its memo. */
export const stateWrite = (alert: AlertRecord, state: AlertContent['state']): MemoWrite =>
  ({ name: `${namePrefix}${alert.name}`, version: alert.version, value: valueOf({ ...alert, state }) });

export const cursorOf = ({ value }: Memo): string => (JSON.parse(value) as { readonly cursor: string }).cursor;

export function unknownAlert(name: string): Refusal {
  return new Refusal('unknown.alert', `there is no alert ${JSON.stringify(name)}`, { name });
}

function recordOf({ value, version }: Memo): AlertRecord {
  const content = JSON.parse(value) as AlertContent;
  return { ...content, spec: specOfAlert(content), version };
}
