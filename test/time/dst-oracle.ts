// The oracle for daylight saving: visits every minute of real time and the wall time then. It shares no code with
// src/time: it reads Intl as text, and takes a specification as sets instead of parsing one.

/** A cron expression as text for the code and as a predicate for the oracle. */
export interface OracleSpec {
  readonly text: string;
  readonly isRhythm: boolean;
  /** `minute`, `hour`, `day`, `month`, `weekday` (0 is Sunday) of a clock. */
  readonly matches: (clock: Clock) => boolean;
}

interface Clock {
  readonly minute: number;
  readonly hour: number;
  readonly day: number;
  readonly month: number;
  readonly weekday: number;
}

export interface OraclePolicies {
  readonly gap?: 'next' | 'shift' | 'skip' | undefined;
  readonly overlap?: 'first' | 'last' | 'both' | undefined;
}

export interface OracleTick {
  readonly at: number;
  readonly skipped: boolean;
}

interface Minute {
  readonly at: number;
  /** `2026-03-29 03:00` */
  readonly shown: string;
  readonly clock: Clock;
}

/** Some days of a zone, minute by minute. */
export interface Window {
  readonly from: number;
  readonly to: number;
  readonly minutes: readonly Minute[];
  /** Minutes that clocks never showed, with the first that they showed after. */
  readonly lost: ReadonlyArray<{ minute: Minute; after: Minute; index: number }>;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;

/** Instants around which the clocks of a zone change, to the minute, found by looking every six hours. */
export function changesOf(zone: string, from: number, to: number): number[] {
  const show = shower(zone);
  const changes: number[] = [];
  for (let at = from; at < to; at += 6 * hourMs) {
    if (lead(show, at) === lead(show, at + 6 * hourMs)) continue;
    let change = at;
    while (lead(show, change) === lead(show, at)) change += minuteMs;
    changes.push(change);
  }
  return changes;
}

export function windowOf(zone: string, from: number, to: number): Window {
  const show = shower(zone);
  const minutes: Minute[] = [];
  for (let at = from; at < to; at += minuteMs) minutes.push(minuteOf(at, show(at)));
  const lost: Window['lost'][number][] = [];
  for (const [index, after] of minutes.entries()) {
    const before = minutes[index - 1];
    if (!before) continue;
    const missing: string[] = [];
    for (let text = plusMinute(before.shown); text < after.shown; text = plusMinute(text)) missing.push(text);
    missing.forEach((text, place) => lost.push({ minute: minuteOf(after.at, text), after, index: place }));
  }
  return { from, to, minutes, lost };
}

/** The part of the work that does not depend on policies. */
export function matchesIn(window: Window, spec: OracleSpec): Pick<Window, 'minutes' | 'lost'> {
  return {
    minutes: window.minutes.filter(({ clock }) => spec.matches(clock)),
    lost: window.lost.filter(({ minute }) => spec.matches(minute.clock)),
  };
}

/** What the promise says: `reliability.md` §8. */
export function expectedTicks(
  found: ReturnType<typeof matchesIn>, spec: OracleSpec, { gap, overlap }: OraclePolicies,
): OracleTick[] {
  const chosenOverlap = overlap ?? (spec.isRhythm ? 'both' : 'first');
  const byText = Map.groupBy(found.minutes, ({ shown }) => shown);
  const shown = [...byText.values()].flatMap((same) => {
    if (chosenOverlap === 'both') return same;
    return [chosenOverlap === 'first' ? same[0]! : same.at(-1)!];
  });
  const chosenGap = gap ?? (spec.isRhythm ? 'nothing' : 'next');
  const ticks = new Map<number, OracleTick>(shown.map(({ at }) => [at, { at, skipped: false }]));
  for (const { after, index } of found.lost) {
    const next = { at: after.at, skipped: false };
    const shifted = { at: after.at + index * minuteMs, skipped: false };
    const skipped = { at: after.at - 1, skipped: true };
    const tick = { nothing: null, next, shift: shifted, skip: skipped }[chosenGap];
    if (tick) ticks.set(tick.at, tick);
  }
  return [...ticks.values()].sort((a, b) => a.at - b.at);
}

function shower(zone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  return (at) => format.format(at);
}

/** How far clocks are ahead of UTC. */
function lead(show: (at: number) => string, at: number): number {
  return Date.parse(`${show(at).replace(' ', 'T')}Z`) - at;
}

function plusMinute(shown: string): string {
  const next = new Date(Date.parse(`${shown.replace(' ', 'T')}Z`) + minuteMs);
  return next.toISOString().slice(0, 16).replace('T', ' ');
}

function minuteOf(at: number, shown: string): Minute {
  const [, month, day, hour, minute] = shown.split(/[- :]/).map(Number);
  const weekday = new Date(`${shown.slice(0, 10)}T00:00Z`).getUTCDay();
  return { at, shown, clock: { minute: minute!, hour: hour!, day: day!, month: month!, weekday } };
}
