/** Times in the chosen format: relative, local or UTC. The tooltip has all three. */
import type { JSX } from 'preact';
import { duration, relativeTime, timestamp } from '../format.ts';
import { now } from '../state/clock.ts';
import { timeMode } from '../state/preferences.ts';

interface TimeProps {
  readonly at: number | null;
  /** Whether the time is always absolute, with milliseconds, as in logs. */
  readonly isExact?: boolean;
}

export function Time({ at, isExact = false }: TimeProps): JSX.Element {
  if (at === null) return <span class="faint">–</span>;
  const zone = timeMode.value === 'UTC' ? 'UTC' : 'local';
  const isRelative = timeMode.value === 'relative' && !isExact;
  const relative = relativeTime(at, now.value);
  const text = isRelative ? relative : timestamp(at, zone, isExact);
  const title = `${timestamp(at, 'UTC', true)} UTC · ${timestamp(at, 'local')} local · ${relative}`;
  return <time dateTime={new Date(at).toISOString()} title={title}>{text}</time>;
}

/** The duration between two times; if `to` is null, until now. */
export function Elapsed({ from, to }: { readonly from: number | null; readonly to: number | null }): JSX.Element {
  if (from === null) return <span class="faint">–</span>;
  return <span class="number">{duration(Math.max(0, (to ?? now.value) - from))}</span>;
}
