/**
 * Time zones: finds the offset of an IANA zone at an instant, and the instants at which its clocks show a wall time.
 */
import { BoundedMap } from './bounded-map.ts';
import { malformed, requireText } from './malformed.ts';
import { dayMs, daysOf } from './civil.ts';

// A wall time, the date and time that clocks in a zone show, is stored as a number: the milliseconds since 1970 at
// which UTC shows the same date and time.

/**
 * A range of time in which the offset of a zone is constant. `before` and `after` are the offsets before and after it.
 * If the search found no change of the offset on a side, the offset of that side equals `offset`.
 */
export interface Stretch {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly before: number;
  readonly offset: number;
  readonly after: number;
}

/** A bound on the distance from UTC: no offset in history was larger, including local mean time. */
export const offsetMax = 16 * 3_600_000;

/** The version of the time zone rules in this process. With another version, future ticks can have other times. */
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

/** Returns the instants at which clocks show the wall time: none if they skip it, two if they show it twice. */
export function instantsOf(zone: string, wall: number): number[] {
  const offsets = new Set([offsetAt(zone, wall - offsetMax), offsetAt(zone, wall + offsetMax)]);
  const instants = [...offsets].map((offset) => wall - offset).filter((instant) => wallOf(zone, instant) === wall);
  return instants.sort((a, b) => a - b);
}

/**
 * Returns the stretch around an instant. Changes of the offset are searched in the bucket of the instant, and in the
 * buckets before and after it. Without a change on a side, the stretch extends to the end of the bucket on that side.
 */
export function stretchAt(zone: string, instant: number): Stretch {
  const rules = rulesOf(zone);
  const known = rules.latest;
  if (known !== null && instant >= known.from && instant < known.to) return known;
  rules.latest = findStretch(rules, instant);
  return rules.latest;
}

interface OffsetChange {
  readonly at: number;
  readonly before: number;
  readonly after: number;
}

/** A cached range of `bucketMs` in a zone: the offset at its start, and the changes after its start up to its end. */
interface Bucket {
  readonly offset: number;
  readonly changes: readonly OffsetChange[];
}

interface ZoneRules {
  readonly format: Intl.DateTimeFormat;
  readonly buckets: BoundedMap<number, Bucket>;
  latest: Stretch | null;
}

// The offset is read every three days to find its changes; two changes between two reads would be missed. No zone ever
// changed twice within three days (shortest: 3.98 days, Freetown, 1939), and since 1940 none within six.
const sampleMs = 3 * dayMs;
const bucketMs = 64 * sampleMs;
const bucketsKept = 256;

/**
 * The zones in use, by name in lower case, since Intl ignores case. Only valid names are added, so the map stays small.
 */
const known = new Map<string, ZoneRules>();

function rulesOf(zone: string): ZoneRules {
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
  // Intl also accepts offsets such as +01:00. They are refused, because a user could expect daylight saving; the name
  // Etc/GMT-1 makes explicit that there is none.
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

function findStretch(rules: ZoneRules, instant: number): Stretch {
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

const bucketOf = ({ format, buckets }: ZoneRules, index: number): Bucket =>
  buckets.getOrSet(index, () => readBucket(format, index * bucketMs));

function readBucket(format: Intl.DateTimeFormat, start: number): Bucket {
  const changes: OffsetChange[] = [];
  const offset = readOffset(format, start);
  let before = offset;
  for (let at = start + sampleMs; at <= start + bucketMs; at += sampleMs) {
    const after = readOffset(format, at);
    if (after !== before) changes.push({ at: findChange(format, at - sampleMs, at), before, after });
    before = after;
  }
  return { offset, changes };
}

/** Returns the first second in (low, high] at which the offset differs from the offset at `low`. */
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

// The year 1811. Earlier instants get the offset of this one: zones had only local mean time then. This also avoids
// years that Intl writes as BC.
const readMin = -5_000_000_000_000;
type Six = [number, number, number, number, number, number];
const formatted = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

/**
 * Reads the offset at an instant from the text that Intl formats. A call takes about 2 µs, so the results are cached.
 */
function readOffset(format: Intl.DateTimeFormat, instant: number): number {
  const at = Math.max(instant, readMin);
  const [month, day, year, hour, minute, second] = formatted.exec(format.format(at))!.slice(1).map(Number) as Six;
  return daysOf(year, month, day) * dayMs + ((hour * 60 + minute) * 60 + second) * 1000 - at;
}
