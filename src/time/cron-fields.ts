/** The fields of a cron expression: the syntax, and the values that each field allows. */
import { malformed, requireText } from './malformed.ts';

export interface CronField {
  /** In ascending order, each once. */
  readonly values: readonly number[];
  /** `from[n]` is the smallest allowed value that is at least n; -1 if there is none. */
  readonly from: Int8Array;
}

export interface CronSpec {
  readonly text: string;
  readonly seconds: CronField;
  readonly minutes: CronField;
  readonly hours: CronField;
  readonly days: CronField;
  readonly months: CronField;
  /** 0 is Sunday. */
  readonly weekdays: CronField;
  /** Whether the days contain `L`, the last day of the month. */
  readonly lastDay: boolean;
  /** Weekdays within a month: `5#2` (nth 2) is the second Friday of the month, `5L` (nth 0) the last. */
  readonly nthWeekdays: ReadonlyArray<{ readonly weekday: number; readonly nth: number }>;
  /** Whether day of month and weekday are both restricted. If so, a day needs to match only one of them, as in cron. */
  readonly eitherDay: boolean;
  /**
   * Whether the expression is a repeating interval, not a list of times of day: its hour field allows all 24 hours, or
   * allows several hours and contains a wildcard or a step, such as `9-17/2`. A repeating interval has other defaults
   * for daylight saving; see `CronRules`.
   */
  readonly isRhythm: boolean;
  /** The index at which the day of the month begins in the text; errors about impossible dates point to it. */
  readonly dayPosition: number;
}

const textMax = 256;

interface FieldKind {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const monthNames = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const kinds = {
  second: { name: 'second', min: 0, max: 59 },
  minute: { name: 'minute', min: 0, max: 59 },
  hour: { name: 'hour', min: 0, max: 23 },
  day: { name: 'day of month', min: 1, max: 31 },
  month: { name: 'month', min: 1, max: 12, names: monthNames },
  weekday: { name: 'weekday', min: 0, max: 7, names: weekdayNames },
} satisfies Record<string, FieldKind>;

const nicknames = new Map([
  ['@yearly', '0 0 1 1 *'], ['@annually', '0 0 1 1 *'], ['@monthly', '0 0 1 * *'], ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'], ['@midnight', '0 0 * * *'], ['@hourly', '0 * * * *'],
]);

/** Parses a cron expression of five fields, or of six with the seconds first, or a name such as `@daily`. */
export function readCron(text: string): CronSpec {
  const given = requireText(text, 'malformed.cron', 'A cron expression', textMax);
  const [second, minute, hour, day, month, weekday] = sixFields(given);
  const days = withoutLast(day);
  const weekdays = withoutNth(weekday);
  const hours = readField(hour, kinds.hour);
  return {
    text: given,
    seconds: readField(second, kinds.second),
    minutes: readField(minute, kinds.minute),
    hours,
    days: fieldOf(valuesOf(days.items, kinds.day), kinds.day),
    months: readField(month, kinds.month),
    weekdays: fieldOf(valuesOf(weekdays.items, kinds.weekday).map((value) => value % 7), kinds.weekday),
    lastDay: days.lastDay,
    nthWeekdays: weekdays.nthWeekdays,
    eitherDay: isRestricted(day) && isRestricted(weekday),
    isRhythm: hours.values.length === 24 || (hours.values.length > 1 && /[*/]/.test(hour.text)),
    dayPosition: day.position,
  };
}

/** A part of a cron expression. `position` is the index at which it begins in `whole`, for error messages. */
interface Piece {
  /** The whole expression. */
  readonly whole: string;
  readonly text: string;
  readonly position: number;
}

type SixFields = [Piece, Piece, Piece, Piece, Piece, Piece];

function sixFields(text: string): SixFields {
  const pieces = piecesOf(text);
  const [first] = pieces;
  if (!first) throw malformed('malformed.cron', 'The cron expression is empty: write one like 30 2 * * *.', text, 0);
  if (first.text.startsWith('@')) return sixFields(nicknameOf(first, pieces[1]));
  if (pieces.length < 5 || pieces.length > 6) {
    const sentence = `A cron expression has 5 fields, or 6 with the seconds first, and this one has ${pieces.length}.`;
    throw malformed('malformed.cron', sentence, text, pieces[6]?.position ?? text.length);
  }
  if (pieces.length === 5) pieces.unshift({ whole: text, text: '0', position: first.position });
  return pieces as SixFields;
}

function nicknameOf(first: Piece, second: Piece | undefined): string {
  if (second) throw wrong(second, 'Nothing can follow a name like @daily.');
  const meaning = nicknames.get(first.text.toLowerCase());
  if (meaning === undefined) throw wrong(first, `Use one of ${[...nicknames.keys()].join(', ')}, or five fields.`);
  return meaning;
}

function piecesOf(whole: string): Piece[] {
  return [...whole.matchAll(/[^ \t]+/g)].map(({ 0: text, index }) => ({ whole, text, position: index }));
}

/** Returns the pieces between commas. Empty pieces stay, so that they are refused later with their position. */
function itemsOf(piece: Piece): Piece[] {
  let position = piece.position;
  return piece.text.split(',').map((text) => {
    const item = { whole: piece.whole, text, position };
    position += text.length + 1;
    return item;
  });
}

/** Whether a field restricts the days. As in cron, a field with `*` or `?` does not, even if the `*` has a step. */
function isRestricted(piece: Piece): boolean {
  return !/[*?]/.test(piece.text);
}

function withoutLast(day: Piece): { items: Piece[]; lastDay: boolean } {
  const all = itemsOf(anyFor(day));
  const items = all.filter(({ text }) => text.toUpperCase() !== 'L');
  return { items, lastDay: items.length < all.length };
}

function withoutNth(piece: Piece): { items: Piece[]; nthWeekdays: CronSpec['nthWeekdays'] } {
  const all = itemsOf(anyFor(piece));
  const isNth = ({ text }: Piece): boolean => text.includes('#') || /.L$/i.test(text);
  return { items: all.filter((item) => !isNth(item)), nthWeekdays: all.filter(isNth).map(readNth) };
}

function anyFor(piece: Piece): Piece {
  return piece.text === '?' ? { ...piece, text: '*' } : piece;
}

function readNth(item: Piece): { weekday: number; nth: number } {
  const [name, nth] = item.text.includes('#') ? cut(item, '#') : [{ ...item, text: item.text.slice(0, -1) }, undefined];
  const weekday = readValue(name, kinds.weekday) % 7;
  if (nth && !/^[1-5]$/.test(nth.text)) throw wrong(nth, 'After # write which of the month, 1 to 5, like FRI#2.');
  return { weekday, nth: nth ? Number(nth.text) : 0 };
}

function readField(piece: Piece, kind: FieldKind): CronField {
  return fieldOf(valuesOf(itemsOf(piece), kind), kind);
}

function valuesOf(items: Piece[], kind: FieldKind): number[] {
  return items.flatMap((item) => readItem(item, kind));
}

function fieldOf(values: number[], { max }: FieldKind): CronField {
  const rising = [...new Set(values)].sort((a, b) => a - b);
  const from = new Int8Array(max + 2).fill(-1);
  for (let index = 0; index <= max; index += 1) from[index] = rising.find((value) => value >= index) ?? -1;
  return { values: rising, from };
}

/** Returns the values of one item: a star, a value or a range, each with or without a step. */
function readItem(item: Piece, kind: FieldKind): number[] {
  const [range, step] = cut(item, '/');
  const [low, high] = readRange(range, kind, step !== undefined);
  const by = step ? readStep(step, kind) : 1;
  const cycle = sizeOf(kind);
  const last = high < low ? high + cycle : high;
  const values: number[] = [];
  for (let value = low; value <= last; value += by) values.push(value > kind.max ? value - cycle : value);
  return values;
}

function readRange(range: Piece, kind: FieldKind, hasStep: boolean): [low: number, high: number] {
  const end = kind === kinds.weekday ? 6 : kind.max;
  if (range.text === '*') return [kind.min, end];
  const [first, second] = cut(range, '-');
  const low = readValue(first, kind);
  if (!second) return [low, hasStep ? end : low];
  const high = readValue(second, kind);
  // A range that wraps around makes sense for hours (22-6) and weekdays (FRI-MON), but not for the days of one month.
  if (high < low && kind === kinds.day) throw wrong(range, `Turn the range ${range.text} round: small to large.`);
  return [low, high];
}

function readStep(step: Piece, kind: FieldKind): number {
  const size = sizeOf(kind);
  if (/^\d{1,2}$/.test(step.text) && Number(step.text) >= 1 && Number(step.text) <= size) return Number(step.text);
  throw wrong(step, `The step of the ${kind.name} must be from 1 to ${size}; for other intervals use every().`);
}

function readValue(piece: Piece, kind: FieldKind): number {
  const name = kind.names?.indexOf(piece.text.toUpperCase()) ?? -1;
  if (name !== -1) return kind.min + name;
  if (/^\d{1,2}$/.test(piece.text) && Number(piece.text) >= kind.min && Number(piece.text) <= kind.max) {
    return Number(piece.text);
  }
  const names = kind.names ? ` or a name from ${kind.names[0]} to ${kind.names.at(-1)}` : '';
  const found = piece.text === '' ? 'empty' : JSON.stringify(piece.text.slice(0, 20));
  throw wrong(piece, `The ${kind.name} cannot be ${found}: use a number from ${kind.min} to ${kind.max}${names}.`);
}

function sizeOf(kind: FieldKind): number {
  return kind === kinds.weekday ? 7 : kind.max - kind.min + 1;
}

function cut(piece: Piece, mark: string): [Piece, Piece | undefined] {
  const index = piece.text.indexOf(mark);
  if (index === -1) return [piece, undefined];
  const { whole, text, position } = piece;
  return [
    { whole, text: text.slice(0, index), position },
    { whole, text: text.slice(index + 1), position: position + index + 1 },
  ];
}

function wrong(piece: Piece, sentence: string): ReturnType<typeof malformed> {
  return malformed('malformed.cron', sentence, piece.whole, piece.position);
}
