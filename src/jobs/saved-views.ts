/**
 * Saved views: each is a memo of its own, written under the version that was read, so that people who save at the same
 * time do not lose one another's views. Its audit entry is part of the same commit.
 */
import { commitMemos, type Asker } from '../apply.ts';
import { savedViewPages, type SavedViewContent, type SavedViewPage } from '../model/saved-view.ts';
import { Refusal } from '../refusal.ts';
import type { Memo, MemoWrite, Store } from '../store/store.ts';
import { auditRecord, closeRecord } from './audit.ts';
import { checkName, checkOneOf } from './checks/values.ts';
import { decodedMemos } from './decoded-memos.ts';
import type { Producer } from './new-jobs.ts';

export interface SavedView extends SavedViewContent {
  /** Rises by 1 each time the view is saved. */
  readonly version: number;
}

/** A view before and after an action; null: it did not exist, or does not any more. */
export interface ViewChange {
  readonly before: SavedView | null;
  readonly after: SavedViewContent | null;
}

/** Who acts, and whether the audit records it. */
export interface ViewAct {
  readonly action: string;
  readonly asker: Asker;
  readonly isRecorded: boolean;
}

export const savedViewsMax = 200;
const nameMax = 100;
const queryMax = 2_000;
const triesMax = 50;
const prefix = 'view';
const namePrefix = 'view/';
/** Written with each new view, so that two that are created at once do not both take the last place. */
const creationName = 'view-creation';

/** Reads all saved views, in the order of their names. */
export async function readViews(store: Pick<Store, 'memos'>): Promise<readonly SavedView[]> {
  return viewsOf(await decodedMemos(store, prefix, 'saved views'));
}

/**
 * Writes one view. `decide` gets the stored views and returns the change; null: nothing changes. It is called again
 * after a conflict.
 */
export async function writeView(
  producer: Producer,
  { action, asker, isRecorded }: ViewAct,
  decide: (known: ReadonlyMap<string, SavedView>) => ViewChange | null,
): Promise<void> {
  const { store } = producer;
  for (let tries = 0; tries < triesMax; tries += 1) {
    const memos = await decodedMemos(store, prefix, 'saved views');
    const views = viewsOf(memos);
    const change = decide(new Map(views.map((view) => [view.name, view])));
    if (change === null) return;
    const writes = [...writesOf(change), ...(change.before === null ? [creationWrite(views.length, memos)] : [])];
    const entry = { action, job: null, def: null, before: contentOf(change.before), after: contentOf(change.after) };
    const records = isRecorded ? [await auditRecord(producer, entry, asker)] : [];
    if (!(await commitMemos(store, writes, records))) continue;
    for (const record of records) await closeRecord(producer, record, asker);
    return;
  }
  throw new Refusal('contended', 'the saved views changed again and again while one was written: try again');
}

/** Checks the name of a view: people read it on a button. */
export function checkViewName(name: unknown): string {
  const checked = checkName('name of a view', name);
  if (checked.length <= nameMax && checked.trim() === checked) return checked;
  const message = `the name of a view must have at most ${nameMax} characters, and no space at its ends`;
  throw new Refusal('malformed.name', message, { what: 'name of a view' });
}

export const checkViewPage = (page: unknown): SavedViewPage => checkOneOf('page', page, savedViewPages);

/** Checks the query of a page. Without a query the page shows everything, which needs no view. */
export function checkViewQuery(query: unknown): string {
  if (typeof query === 'string' && query.length <= queryMax && /^[\x21-\x7e]+$/.test(query) && !/[?#]/.test(query)) return query;
  const message = 'the query of a view must be that of a URL, without "?", such as search=state%3Afailed';
  throw new Refusal('malformed.option', `${message}, of at most ${queryMax} characters`, { query: String(query).slice(0, 200) });
}

export function unknownView(name: string): Refusal {
  return new Refusal('unknown.view', `there is no saved view ${JSON.stringify(name)}`, { name });
}

const viewsOf = (memos: readonly Memo[]): SavedView[] =>
  memos.filter(({ name }) => name.startsWith(namePrefix))
    .map(({ value, version }) => ({ ...(JSON.parse(value) as SavedViewContent), version }));

/** A view with another name replaces the one before in the same commit. */
function writesOf({ before, after }: ViewChange): MemoWrite[] {
  const isRenamed = before !== null && after !== null && before.name !== after.name;
  return [
    ...(before !== null && (after === null || isRenamed) ? [{ ...writeOf(before.name, before), value: null }] : []),
    ...(after === null ? [] : [{ ...writeOf(after.name, isRenamed ? null : before), value: JSON.stringify(after) }]),
  ];
}

const writeOf = (name: string, before: SavedView | null): Pick<MemoWrite, 'name' | 'version'> =>
  ({ name: `${namePrefix}${name}`, version: before?.version ?? 0 });

function creationWrite(count: number, memos: readonly Memo[]): MemoWrite {
  if (count >= savedViewsMax) {
    throw new Refusal('full.views', `there are ${count} saved views already: delete one first`, { max: savedViewsMax });
  }
  return { name: creationName, version: memos.find(({ name }) => name === creationName)?.version ?? 0, value: '{}' };
}

const contentOf = (view: SavedViewContent | null): unknown => view && { name: view.name, page: view.page, query: view.query };
