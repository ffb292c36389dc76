/** Time zones: the offset of an IANA zone at an instant, and the instants at which clocks there show a wall time. */
import { BoundedMap } from './bounded-map.ts';
import { malformed, requireText } from './malformed.ts';
import { dayMs, daysOf } from './civil.ts';

// A wall time is a number, too: the milliseconds since the epoch that the same date and time would have in UTC.

/**
 * A range of time with one offset. `before` and `after` equal `offset` if the search ended without finding a change.
 */
export interface Stretch {
  readonly from: number;
  /** exclusive */
  readonly to: number;
  readonly before: number;
  readonly offset: number;
  readonly after: number;
}

/** No offset in history was further from UTC, including local mean time. */
export const offsetMax = 16 * 3_600_000;

/** The version of the time zone rules in this process; future ticks may change with it. */
export const tzdataVersion: string = process.versions['tz'] ?? 'unknown';

export function checkZone(zone: unknown): string {
  const text = requireText(zone, 'malformed.zone', 'A time zone', 64);
  rulesOf(text);
  return text;
}

export function offsetAt(zone: string, instant: number): number {
  return stretchAt(zone, instant).offset;
}

export function wallOf(zone: string, instant: number): number {
  return instant + offsetAt(zone, instant);
}

/** None if clocks skip the wall time, two if they show it twice. */
export function instantsOf(zone: string, wall: number): number[] {
  const offsets = new Set([offsetAt(zone, wall - offsetMax), offsetAt(zone, wall + offsetMax)]);
  const instants = [...offsets].map((offset) => wall - offset).filter((instant) => wallOf(zone, instant) === wall);
  return instants.sort((a, b) => a - b);
}

/** The first instant that shows the wall time, or the end of the gap that contains it. */
export function nextValid(zone: string, wall: number): number {
  const [first] = instantsOf(zone, wall);
  return first ?? stretchAt(zone, wall - offsetAt(zone, wall - offsetMax)).from;
}

/** The stretch around an instant. Its ends are real changes, or at least half a year away. */
export function stretchAt(zone: string, instant: number): Stretch {
  const rules = rulesOf(zone);
  const known = rules.latest;
  if (known !== null && instant >= known.from && instant < known.to) return known;
  rules.latest = findStretch(rules, instant);
  return rules.latest;
}

interface Change {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** The changes within (start, start + bucketMs]. */
interface Bucket {
  readonly offset: number;
  readonly changes: readonly Change[];
}

interface Rules {
  readonly format: Intl.DateTimeFormat;
  readonly buckets: BoundedMap<number, Bucket>;
  latest: Stretch | null;
}

// Since 1940 no zone has changed twice within six days, and none ever within three (3.98 days: Freetown, 1939).
const sampleMs = 3 * dayMs;
const bucketMs = 64 * sampleMs;
const bucketsKept = 256;

/** By name in lower case, as Intl ignores case; bounded by the number of zones. */
const known = new Map<string, Rules>();

function rulesOf(zone: string): Rules {
  const key = zone.toLowerCase();
  let rules = known.get(key);
  if (!rules) {
    rules = { format: formatOf(zone), buckets: new BoundedMap(bucketsKept), latest: null };
    known.set(key, rules);
  }
  return rules;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const sentence = 'Name the time zone as IANA does, like Europe/Berlin or UTC.';
  // Intl accepts offsets such as +01:00 as zones, too. They have no daylight saving; Etc/GMT-1 makes that explicit.
  if (!/^[A-Za-z]/.test(zone)) throw malformed('malformed.zone', sentence, zone, 0);
  const numeric = 'numeric';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23',
      year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric,
    });
  } catch {
    throw malformed('malformed.zone', sentence, zone, 0);
  }
}

function findStretch(rules: Rules, instant: number): Stretch {
  const index = Math.floor(instant / bucketMs);
  const here = bucketOf(rules, index);
  const last = here.changes.findLast(({ at }) => at <= instant) ?? bucketOf(rules, index - 1).changes.at(-1);
  const next = here.changes.find(({ at }) => at > instant) ?? bucketOf(rules, index + 1).changes[0];
  const offset = last?.after ?? next?.before ?? here.offset;
  return {
    from: last?.at ?? (index - 1) * bucketMs,
    to: next?.at ?? (index + 2) * bucketMs,
    before: last?.before ?? offset,
    offset,
    after: next?.after ?? offset,
  };
}

const bucketOf = ({ format, buckets }: Rules, index: number): Bucket =>
  buckets.getOrSet(index, () => readBucket(format, index * bucketMs));

function readBucket(format: Intl.DateTimeFormat, start: number): Bucket {
  const changes: Change[] = [];
  const offset = readOffset(format, start);
  let before = offset;
  for (let at = start + sampleMs; at <= start + bucketMs; at += sampleMs) {
    const after = readOffset(format, at);
    if (after !== before) changes.push({ at: findChange(format, at - sampleMs, at), before, after });
    before = after;
  }
  return { offset, changes };
}

/** The first second in (low, high] at which the offset differs from that at low. */
function findChange(format: Intl.DateTimeFormat, low: number, high: number): number {
  const before = readOffset(format, low);
  let [same, changed] = [low / 1000, high / 1000];
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2);
    if (readOffset(format, middle * 1000) === before) same = middle;
    else changed = middle;
  }
  return changed * 1000;
}

// Before 1811 there is only local mean time; a constant there avoids the years that Intl writes as BC.
const readMin = -5_000_000_000_000;
type Six = [number, number, number, number, number, number];
const formatted = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

/** A call takes about 2 µs, so the results are cached. */
function readOffset(format: Intl.DateTimeFormat, instant: number): number {
  const at = Math.max(instant, readMin);
  const [month, day, year, hour, minute, second] = formatted.exec(format.format(at))!.slice(1).map(Number) as Six;
  return daysOf(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 - at;
}
