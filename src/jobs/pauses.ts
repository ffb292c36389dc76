/**
 * Pauses of types and keys. Each is stored as a job of kind `pause` (model/pause.ts) with an id that follows from the
 * type and the key, so that its history shows every pause and resume. A pause is answered when no claim that began
 * before it is under way.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { never } from '../model/definition.ts';
import type { Job } from '../model/job.ts';
import { create, record, type Asking } from '../model/machine.ts';
import { contentOf, isInForce, pauseOf, scopeOf, type Pause, type PauseContent } from '../model/pause.ts';
import { firstRecordId } from '../model/record-id.ts';
import { Refusal } from '../refusal.ts';
import { pagesOf } from '../store/paging.ts';
import { recordId } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { pauseEndRefusalOf } from './checks/pause-end.ts';
import { originOf } from './draft.ts';
import { spreadWaiting } from './spreads.ts';

/** What a pause holds back: a type, or one key of it. */
export interface PauseTarget {
  readonly type: string;
  readonly key: string | null;
}

/** What a pause or resume changed; null: there was no pause in force before, or there is none after. */
export interface PauseChange {
  readonly before: Pause | null;
  readonly after: Pause | null;
}

/**
 * Pauses a type or key until the time `until`; null: until it is resumed. A pause in force gets the new reason and end.
 * After this function has returned, nothing is claimed.
 */
export async function pause(
  store: Store,
  target: PauseTarget,
  until: number | null,
  asker: Asker,
): Promise<PauseChange> {
  await store.synchronize?.();
  let before: Job | null = null;
  const [change] = await applyTogether(store, async () => {
    const asking = { ...asker, now: store.now() };
    const refusal = pauseEndRefusalOf(until, asking.now);
    if (refusal) return refusal;
    before = await load(store, target);
    return [pausing(before, target, until ?? never, asking)];
  });
  await store.awaitClaims();
  await confirm(store, change!.after!, asker);
  return { before: inForce(before, store.now()), after: pauseOf(change!.after!) };
}

/**
 * Ends a pause, or the spread of a resume; refuses `unknown.pause` if none is in force. With `spreadMs`, what is due and
 * waits is let out evenly over that time.
 */
export async function endPause(
  store: Store,
  target: PauseTarget,
  asker: Asker,
  spreadMs: number | null = null,
): Promise<PauseChange> {
  await store.synchronize?.();
  const [change] = await applyTogether(store, async () => {
    const known = await load(store, target);
    if (!known || !isInForce(known, store.now())) return notPaused(target);
    const spread = spreadMs === null ? null : await spreadWaiting(store, target, spreadMs, asker);
    const asking = { ...asker, now: spread?.from ?? store.now() };
    const input = spread && JSON.stringify({ ...contentOf(known), spread } satisfies PauseContent);
    const edit = spread && input !== null ? { due: spread.until, input } : { due: asking.now };
    return [record(known, [{ kind: 'edited', edit }], asking)];
  });
  return { before: pauseOf(change!.before!), after: inForce(change!.after, store.now()) };
}

/** Returns the pauses and spreads of types and keys in force, ordered by type and key. */
export async function pausesInForce(store: Store): Promise<readonly Pause[]> {
  await store.synchronize?.();
  const found = (await Array.fromAsync(pagesOf(store, { kinds: ['pause'] }, 1000, firstRecordId - 1))).flat();
  const now = store.now();
  const order = ({ type, key }: Pause): string => `${type}\n${key ?? ''}`;
  return found
    .filter((job) => isInForce(job, now) && 'type' in scopeOf(job))
    .map(pauseOf)
    .sort((a, b) => (order(a) < order(b) ? -1 : 1));
}

/** Returns the records of the pauses and spreads in force among these, in any order. */
export async function readPauses(store: Store, targets: readonly PauseTarget[]): Promise<readonly Job[]> {
  const jobs = await store.load(targets.map(idOf));
  return jobs.filter((job) => isInForce(job, store.now()));
}

function pausing(known: Job | null, { type, key }: PauseTarget, due: number, asking: Asking): Change {
  const inForceNow = known && isInForce(known, asking.now) ? contentOf(known) : null;
  const since = inForceNow && !inForceNow.spread ? inForceNow.since : asking.now;
  const content: PauseContent = { by: asking.by, why: asking.why ?? null, since, confirmed: null };
  const input = JSON.stringify(content);
  if (known) return record(known, [{ kind: 'edited', edit: { due, input } }], asking);
  const draft = { kind: 'pause', type, inputText: input, ...(key === null ? {} : { limitKey: key }) } as const;
  const origin = { ...originOf(draft, idOf({ type, key }), asking.now), parent: null };
  return create(origin, { due, priority: 0 }, asking);
}

/**
 * Records the time after which nothing was claimed, unless the pause has changed meanwhile. `stint verify` compares the
 * claims with it.
 */
async function confirm(store: Store, written: Job, asker: Asker): Promise<void> {
  await applyTogether(store, async () => {
    const [job] = await store.load([written.id]);
    if (job?.version !== written.version) return [];
    const asking = { by: asker.by, now: store.now() };
    const input = JSON.stringify({ ...contentOf(job), confirmed: asking.now });
    return [record(job, [{ kind: 'edited', edit: { input } }], asking)];
  });
}

const load = async (store: Store, target: PauseTarget): Promise<Job | null> =>
  (await store.load([idOf(target)]))[0] ?? null;

const inForce = (job: Job | null, now: number): Pause | null => (job && isInForce(job, now) ? pauseOf(job) : null);

const idOf = ({ type, key }: PauseTarget): number => recordId('pause', JSON.stringify([type, key]));

function notPaused({ type, key }: PauseTarget): Refusal {
  const what = key === null ? `the job type ${type}` : `the key ${JSON.stringify(key)} of the job type ${type}`;
  return new Refusal('unknown.pause', `${what} is not paused: list the pauses to see what is`, { type, key });
}
