/**
 * Spreads of resumes (model/spread.ts): divides what waits into parts, and starts and ends the spreads of named limits. The
 * spread of a limit has a record of its own, because claims read the values of limits all the time, and the record of a spread
 * only while it lasts.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Job } from '../model/job.ts';
import { create, record } from '../model/machine.ts';
import { contentOf, isInForce, type PauseContent, type PauseScope } from '../model/pause.ts';
import { partsOver, spreadOver, type Spread } from '../model/spread.ts';
import { recordId } from '../store/record-id.ts';
import type { Store } from '../store/store.ts';
import { originOf } from './draft.ts';
import { recordType } from './record-writing.ts';

/** Returns a spread of what is due and waits in a scope, from now on; null: there is at most one job. */
export async function spreadWaiting(store: Store, scope: PauseScope, ms: number, { by, why }: Asker): Promise<Spread | null> {
  const parts = await store.divideWaiting(scope, partsOver(ms));
  return spreadOver(ms, parts, { by, why: why ?? null, now: store.now() });
}

/** Starts the spread of a named limit, or replaces it. */
export async function startLimitSpread(store: Store, name: string, ms: number, asker: Asker): Promise<Spread | null> {
  let spread: Spread | null = null;
  await applyTogether(store, async () => {
    spread = await spreadWaiting(store, { limit: name }, ms, asker);
    const [known] = await store.load([idOf(name)]);
    const asking = { ...asker, now: spread?.from ?? store.now() };
    if (spread === null) return known ? [record(known, [{ kind: 'edited', edit: { due: asking.now } }], asking)] : [];
    const { by, why, from, until: due } = spread;
    const input = JSON.stringify({ by, why, since: from, confirmed: null, spread } satisfies PauseContent);
    if (known) return [record(known, [{ kind: 'edited', edit: { due, input } }], asking)];
    const uses = [{ name, key: null, cost: 1 }];
    const draft = { kind: 'pause', type: recordType('limit'), inputText: input, limitUses: uses } as const;
    return [create({ ...originOf(draft, idOf(name), asking.now), parent: null }, { due, priority: 0 }, asking)];
  });
  return spread;
}

/** Ends the spread of a named limit, and returns it; null: none is in force. */
export async function endLimitSpread(store: Store, name: string, asker: Asker): Promise<Spread | null> {
  let ended: Spread | null = null;
  await applyTogether(store, async () => {
    const [known] = await store.load([idOf(name)]);
    const asking = { ...asker, now: store.now() };
    ended = known ? spreadAt(known, asking.now) : null;
    return known && ended ? [record(known, [{ kind: 'edited', edit: { due: asking.now } }], asking)] : [];
  });
  return ended;
}

/** Returns the spreads of these limits in force, by name. */
export async function readLimitSpreads(store: Store, names: readonly string[]): Promise<ReadonlyMap<string, Spread>> {
  const records = new Map((await store.load(names.map(idOf))).map((job) => [job.id, job]));
  return new Map(names.flatMap((name) => {
    const known = records.get(idOf(name));
    const spread = known ? spreadAt(known, store.now()) : null;
    return spread ? [[name, spread] as const] : [];
  }));
}

const spreadAt = (job: Job, now: number): Spread | null => (isInForce(job, now) ? (contentOf(job).spread ?? null) : null);

const idOf = (name: string): number => recordId('pause', JSON.stringify({ limit: name }));
