/**
 * Named limits: declared by code at the start of an engine, changed by operators. Claims read the values from these
 * records, so that instances with different code apply the same values.
 */
import { remove, type Asker } from '../apply.ts';
import type { Job } from '../model/job.ts';
import type { LimitUse, LimitValues } from '../model/limit.ts';
import { limitContentOf, limitPauseAt, limitValuesOf, type LimitContent, type LimitPause } from '../model/limit-record.ts';
import type { Spread } from '../model/spread.ts';
import { Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import { recordId } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { pauseEndRefusalOf } from './checks/pause-end.ts';
import { recordType, writeRecords } from './record-writing.ts';
import { endLimitSpread, readLimitSpreads, startLimitSpread } from './spreads.ts';

export interface LimitRecord extends LimitContent {
  /** The values that apply: the override over the code. */
  readonly values: LimitValues;
  readonly version: number;
}

export interface LimitDeclaration {
  readonly name: string;
  readonly keyed: boolean;
  readonly values: LimitValues;
}

/** Stores the limits as code declares them. Overrides stay. A limit that is stored as declared is not written. */
export async function declareLimits(store: Store, limits: readonly LimitDeclaration[], by: string): Promise<void> {
  if (limits.length === 0) return;
  const records = limits.map(({ name, keyed, values }) => ({
    kind: 'limit' as const,
    name,
    contentAfter: (before: unknown): LimitContent => ({ ...(before ?? noContent(name)) as LimitContent, code: values, keyed }),
  }));
  await writeRecords(store, records, { by, why: 'the code declares it' });
}

/**
 * Sets the override of a limit, which replaces the one before; null removes it. Applies to the next claim of every
 * instance.
 */
export async function overrideLimit(
  store: Store,
  name: string,
  override: Partial<LimitValues> | null,
  { by, why }: { readonly by: string; readonly why?: string },
): Promise<LimitRecord> {
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) throw unknownLimit(name);
    const who = override === null ? { by: null, why: null } : { by, why: why ?? null };
    return { ...(before as LimitContent), override, ...who };
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], { by, ...(why === undefined ? {} : { why }) });
  return (await readLimit(store, name))!;
}

/** Stores a limit that no code declares: all its values are an override. Refused if the name is in use. */
export async function createLimit(
  store: Store,
  { name, keyed, override }: Pick<LimitContent, 'name' | 'keyed'> & { readonly override: Partial<LimitValues> },
  { by, why }: { readonly by: string; readonly why?: string },
): Promise<LimitRecord> {
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) return { name, code: null, keyed, override, by, why: why ?? null };
    throw new Refusal('taken.limit', `there is a limit ${name} already: override it instead`, { name });
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], { by, ...(why === undefined ? {} : { why }) });
  return (await readLimit(store, name))!;
}

/**
 * Pauses a limit until the time `until`; null: until it is resumed. A pause in force gets the new reason and end. After
 * this function has returned, no job that uses the limit is claimed.
 */
export async function pauseLimit(store: Store, name: string, until: number | null, asker: Asker): Promise<LimitPause> {
  await store.synchronize?.();
  const now = store.now();
  const refusal = pauseEndRefusalOf(until, now);
  if (refusal) throw refusal;
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) throw unknownLimit(name);
    const content = before as LimitContent;
    const since = limitPauseAt(content, now)?.since ?? now;
    return { ...withoutPause(content), paused: { by: asker.by, why: asker.why ?? null, since, until } };
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], asker);
  const written = await readLimit(store, name);
  await endLimitSpread(store, name, asker);
  await store.awaitClaims();
  await confirmPause(store, name, written?.paused, asker);
  return (await readLimit(store, name))!.paused!;
}

/**
 * Ends the pause of a limit, or the spread of its resume, and returns it; refuses `unknown.pause` if none is in force. With
 * `spreadMs`, what is due and waits is let out evenly over that time. The spread is written before the pause ends: if this
 * process crashes between, the limit stays paused. The pause ends after the claims that may not have seen the spread.
 */
export async function resumeLimit(
  store: Store,
  name: string,
  asker: Asker,
  spreadMs: number | null = null,
): Promise<LimitPause | Spread> {
  await store.synchronize?.();
  const known = await readLimit(store, name);
  if (known === null) throw unknownLimit(name);
  const isPaused = limitPauseAt(known, store.now()) !== null;
  const spread = (await readLimitSpreads(store, [name])).get(name);
  if (!isPaused && !spread) throw notPaused(name);
  await (spreadMs === null ? endLimitSpread(store, name, asker) : startLimitSpread(store, name, spreadMs, asker));
  if (isPaused && spreadMs !== null) await store.awaitClaims();
  return isPaused ? endLimitPause(store, name, asker) : spread!;
}

const notPaused = (name: string): Refusal => new Refusal('unknown.pause', `the limit ${name} is not paused`, { name });

async function endLimitPause(store: Store, name: string, asker: Asker): Promise<LimitPause> {
  let ended: LimitPause | null = null;
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) throw unknownLimit(name);
    ended = limitPauseAt(before as LimitContent, store.now());
    if (ended === null) throw notPaused(name);
    return withoutPause(before as LimitContent);
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], asker);
  return ended!;
}

function withoutPause(record: LimitContent): LimitContent {
  const { paused: _, pauseConfirmed: _confirmed, ...content } = record;
  return content;
}

/** Records the time after which nothing was claimed, unless the pause has changed meanwhile, for `stint verify`. */
async function confirmPause(store: Store, name: string, paused: LimitPause | undefined, { by }: Asker): Promise<void> {
  const contentAfter = (before: unknown): unknown => {
    const content = before as LimitContent | undefined;
    if (content === undefined) throw unknownLimit(name);
    const isSame = paused !== undefined && JSON.stringify(content.paused) === JSON.stringify(paused);
    return isSame ? { ...content, pauseConfirmed: store.now() } : content;
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], { by });
}

/**
 * Makes a limit forget its closing, and what is used of its rate; null: under all keys. The record shows it, because more jobs
 * start then than the rate allows.
 */
export async function reopenLimit(store: Store, name: string, key: string | null, asker: Asker): Promise<void> {
  const contentAfter = (before: unknown): LimitContent => {
    if (before === undefined) throw unknownLimit(name);
    return { ...(before as LimitContent), reopened: store.now() };
  };
  await writeRecords(store, [{ kind: 'limit', name, contentAfter }], asker);
  await store.reopenLimit(name, key);
}

const deleteTriesMax = 50;

/**
 * Deletes a limit that no living code declares, and returns it. Jobs that use its name are not limited by it any more.
 * `isDeclared` says whether the code of a living instance declares the limit. It is called again after the deletion: an
 * instance that started meanwhile may have found its limit stored, and written nothing. The limit is then restored.
 */
export async function deleteLimit(store: Store, name: string, isDeclared: () => Promise<boolean>): Promise<LimitRecord> {
  for (let tries = 0; tries < deleteTriesMax; tries++) {
    const [job] = await store.load([recordId('limit', name)]);
    if (!job) throw unknownLimit(name);
    const known = recordOf(job);
    const mayBeDeclared = known.code !== null;
    if (mayBeDeclared && (await isDeclared())) throw declaredLimit(name);
    if (!(await remove(store, [job]))[0]) continue;
    if (mayBeDeclared && (await isDeclared())) {
      await restore(store, limitContentOf(job.input));
      throw declaredLimit(name);
    }
    await endLimitSpread(store, name, { by: 'stint', why: 'the limit was deleted' });
    await store.reopenLimit(name, null);
    return known;
  }
  throw new Refusal('contended', `the limit ${name} changed again and again while it was deleted: try again`, { name });
}

/** Stores a deleted limit again, unless there is another one of its name by now. */
const restore = (store: Store, content: LimitContent): Promise<void> =>
  writeRecords(store, [{ kind: 'limit', name: content.name, contentAfter: (before) => before ?? content }], {
    by: 'stint', why: 'the code of a new instance declares it',
  });

function declaredLimit(name: string): Refusal {
  const message =
    `cannot delete the limit ${name}, because the code of a living instance declares it: override its values instead, ` +
    'or remove it from the code first';
  return new Refusal('declared.limit', message, { name });
}

/** Returns the record of a limit; null: no program has declared it. */
export async function readLimit(store: Pick<Store, 'load'>, name: string): Promise<LimitRecord | null> {
  const [job] = await store.load([recordId('limit', name)]);
  return job ? recordOf(job) : null;
}

export async function readLimits(store: Pick<Store, 'find'>): Promise<readonly LimitRecord[]> {
  const pages = pagesOf(store, { kinds: ['limit'], types: [recordType('limit')] });
  return (await Array.fromAsync(pages)).flat().map(recordOf);
}

/** Reads at which of these limits and keys as many jobs are running as may be. */
export async function readFullLimits(
  store: Pick<Store, 'load' | 'limitUse'>,
  uses: readonly LimitUse[],
): Promise<(use: LimitUse) => boolean> {
  const full = new Set<string>();
  for (const [name, ofLimit] of Map.groupBy(uses, (use) => use.name)) {
    const concurrency = (await readLimit(store, name))?.values.concurrency ?? null;
    if (concurrency === null) continue;
    const keys = [...new Set(ofLimit.map(({ key }) => key))];
    for (const { key, admitted } of await store.limitUse(name, { keys })) if (admitted >= concurrency) full.add(JSON.stringify([name, key]));
  }
  return ({ name, key }) => full.has(JSON.stringify([name, key]));
}

export function unknownLimit(name: string): Refusal {
  const message =
    `there is no limit ${JSON.stringify(name)}: start a program that declares it, or create it with ` +
    '`stint limits set --create` or `POST /limits`';
  return new Refusal('limit.unknown', message, { name });
}

const noContent = (name: string): LimitContent =>
  ({ name, code: null, keyed: false, override: null, by: null, why: null });

function recordOf({ input, version }: Job): LimitRecord {
  const content = limitContentOf(input);
  return { ...content, values: limitValuesOf(content), version };
}
