/** Explains which named limits keep a due job from starting. */
import { readLimit } from '../../jobs/limits.ts';
import type { LimitUse, LimitValues, Rate } from '../../model/limit.ts';
import { limitPauseAt, type LimitPause } from '../../model/limit-record.ts';
import type { LimitInUseNow, Store } from '../../store/store.ts';
import { formatDuration } from '../../time/duration.ts';
import type { Reason } from './reason.ts';

/** Returns a reason for each limit that does not admit the job now. */
export async function namedLimitReasons(store: Store, uses: readonly LimitUse[]): Promise<readonly Reason[]> {
  const reasons = await Promise.all(uses.map((use) => reasonsOf(store, use)));
  return reasons.flat();
}

async function reasonsOf(store: Store, use: LimitUse): Promise<readonly Reason[]> {
  const record = await readLimit(store, use.name);
  if (record === null) return [];
  const [now] = await store.limitUse(use.name, { keys: [use.key] });
  if (now === undefined) return [];
  const paused = limitPauseAt(record, store.now());
  return [paused ? pauseReason(use, paused) : rateReason(use, record.values, now, store.now()), fullReason(use, record.values, now)]
    .filter((reason) => reason !== null);
}

function pauseReason({ name }: LimitUse, pause: LimitPause): Reason {
  const { by, why, until } = pause;
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  const says = `its limit ${name} is paused${end} by ${by}${why === null ? '' : `: ${why}`}`;
  return { code: 'paused.limit', says, detail: { limit: name, ...pause } };
}

function rateReason(use: LimitUse, { rate }: LimitValues, use1: LimitInUseNow, now: number): Reason | null {
  const { closedUntil } = use1;
  const opensAt = Math.max(openFor(use, rate, use1), closedUntil ?? 0);
  if (opensAt <= now) return null;
  const isClosed = closedUntil !== null && closedUntil > now;
  const why = isClosed ? 'was closed by a job that another system refused' : allowance(rate!, use.cost);
  const says = `${labelOf(use)} ${why}; it may start in ${Math.ceil((opensAt - now) / 1000)} s`;
  return { code: 'rate.used', says, detail: { limit: use.name, key: use.key, cost: use.cost, opensAt } };
}

/** `opensAt` of the store is that of a cost of 1: each further unit takes one interval of the rate. */
const openFor = ({ cost }: LimitUse, rate: Rate | null, { opensAt }: LimitInUseNow): number =>
  rate === null ? opensAt : opensAt + Math.max(0, Math.min(cost, rate.burst) - 1) * (rate.per / rate.count);

/** A job whose cost is above the burst, which may be lowered after its creation, waits until nothing of the rate is in use. */
const allowance = ({ count, per, burst }: Rate, cost: number): string =>
  `allows ${count} per ${formatDuration(per)}` +
  (cost <= burst ? '' : `, ${burst} at once, and the job costs ${cost}: it waits until nothing of the rate is in use`);

function fullReason(use: LimitUse, { concurrency }: LimitValues, { admitted }: LimitInUseNow): Reason | null {
  if (concurrency === null || admitted < concurrency) return null;
  const says = `${labelOf(use)} is full: ${admitted} of ${concurrency} are running`;
  return { code: 'limit.full', says, detail: { limit: use.name, key: use.key, admitted, concurrency } };
}

const labelOf = ({ name, key }: LimitUse): string => (key === null ? `limit ${name}` : `limit ${name} for ${key}`);
