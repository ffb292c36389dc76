/** Times as the reader wants them: relative, local or UTC; the whole of it stands in the title. */
import type { JSX } from 'preact';
import { now } from '../state/clock.ts';
import { timeMode } from '../state/preferences.ts';
import { ago, span, stamp } from '../words.ts';

interface TimeProps {
  readonly at: number | null;
  /** Where a distance makes no sense, such as in a log. */
  readonly isExact?: boolean;
}

export function Time({ at, isExact = false }: TimeProps): JSX.Element {
  if (at === null) return <span class="faint">–</span>;
  const zone = timeMode.value === 'UTC' ? 'UTC' : 'local';
  const isRelative = timeMode.value === 'relative' && !isExact;
  const told = isRelative ? ago(at, now.value) : stamp(at, zone, isExact);
  const title = `${stamp(at, 'UTC', true)} UTC · ${stamp(at, 'local')} local · ${ago(at, now.value)}`;
  return <time dateTime={new Date(at).toISOString()} title={title}>{told}</time>;
}

/** From one time to another, or until now while there is no end. */
export function Lasting({ from, to }: { readonly from: number | null; readonly to: number | null }): JSX.Element {
  if (from === null) return <span class="faint">–</span>;
  return <span class="number">{span(Math.max(0, (to ?? now.value) - from))}</span>;
}
