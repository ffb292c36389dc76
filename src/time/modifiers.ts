/**
 * Date modifiers of SQLite, such as `+1 DAY`, as far as Bedrock allows them, and Bedrock's own START OF HOUR. They are
 * computed here, not by SQLite, so that the version of SQLite does not affect when jobs run.
 */
import { Refusal } from '../refusal.ts';
import { civilOf, dayMs, daysOf, weekdayOf } from './civil.ts';
import { checkInstant, instantMax, instantMin } from './instant.ts';
import { malformed, requireText } from './malformed.ts';

export type Modifier =
  | { readonly kind: 'add'; readonly amount: number; readonly unit: ModifierUnit }
  | { readonly kind: 'startOf'; readonly unit: 'hour' | 'day' | 'month' | 'year' }
  | { readonly kind: 'weekday'; readonly weekday: number };

type ModifierUnit = 'second' | 'minute' | 'hour' | 'day' | 'month' | 'year';

/** An item of a comma-separated list, and the index in the text at which the item begins. */
export interface Item {
  readonly text: string;
  readonly position: number;
}

export const modifierTextMax = 1024;

const fixedMs = { second: 1000, minute: 60_000, hour: 3_600_000, day: dayMs };

/** Parses a list of modifiers without a base, as in `retryAfter`; the empty text is the empty list. */
export function parseModifiers(text: string): Modifier[] {
  const list = requireText(text, 'malformed.repeat', 'A list of modifiers', modifierTextMax);
  if (list === '') return [];
  const items = itemsOf(list);
  if (items.length === 0) throw malformed('malformed.repeat', 'Write a modifier, like +1 HOUR.', list, 0);
  return items.map((item) => {
    const modifier = readModifier(item, list);
    // Bedrock allows START OF HOUR in repeat rules only.
    if (modifier.kind === 'startOf' && modifier.unit === 'hour') {
      throw malformed('malformed.repeat', 'START OF HOUR can only stand in a repeat.', list, item.position);
    }
    return modifier;
  });
}

/** Truncates to the second and applies the modifiers in order. Refuses a result outside the years 0000 to 9999. */
export function applyModifiers(modifiers: readonly Modifier[], instant: number): number {
  const result = tryModifiers(modifiers, checkInstant(instant));
  if (result !== null) return result;
  throw new Refusal('impossible.schedule', 'The modifiers lead outside the years 0000 to 9999: use smaller steps.');
}

/** Like `applyModifiers`, but does not check `instant`, and returns null where the modifiers would be refused. */
export function tryModifiers(modifiers: readonly Modifier[], instant: number): number | null {
  let at: number | null = Math.floor(instant / 1000) * 1000;
  for (const modifier of modifiers) {
    at = applyModifier(modifier, at);
    if (at === null) return null;
  }
  return at >= instantMin && at <= instantMax ? at : null;
}

/** Returns the sum in ms if the list only adds seconds, minutes, hours or days; otherwise null: the length varies. */
export function fixedLengthMs(modifiers: readonly Modifier[]): number | null {
  let sum = 0;
  for (const modifier of modifiers) {
    if (modifier.kind !== 'add' || modifier.unit === 'month' || modifier.unit === 'year') return null;
    sum += modifier.amount * fixedMs[modifier.unit];
  }
  return sum;
}

/** Returns the items between commas. As in Bedrock, empty items are dropped and only leading spaces are trimmed. */
export function itemsOf(list: string): Item[] {
  let position = 0;
  const items: Item[] = [];
  for (const part of list.split(',')) {
    const text = part.replace(/^ +/, '');
    if (text !== '') items.push({ text, position: position + part.length - text.length });
    position += part.length + 1;
  }
  return items;
}

export function readModifier({ text, position }: Item, list: string): Modifier {
  const sum = /^([+-])(\d{1,8}) (SECOND|MINUTE|HOUR|DAY|MONTH|YEAR)S?$/i.exec(text);
  if (sum) return readSum(sum, position, list);
  const start = /^START OF (HOUR|DAY|MONTH|YEAR)$/i.exec(text);
  if (start) return { kind: 'startOf', unit: start[1]!.toLowerCase() as 'hour' };
  const weekday = /^WEEKDAY ([0-6])$/i.exec(text);
  if (weekday) return { kind: 'weekday', weekday: Number(weekday[1]) };
  throw malformed('malformed.repeat', howTo(text), list, position);
}

function readSum([, sign, digits, name]: RegExpExecArray, position: number, list: string): Modifier {
  const unit = name!.toLowerCase() as ModifierUnit;
  if (unit !== 'second' && digits!.length > 3) {
    const sentence = `Use at most 3 digits before ${name}; only SECONDS can have up to 8.`;
    throw malformed('malformed.repeat', sentence, list, position + 1);
  }
  return { kind: 'add', amount: sign === '-' ? -Number(digits) : Number(digits), unit };
}

function howTo(text: string): string {
  if (/^[+-] /.test(text)) return 'Leave no space after the sign: write +1 HOUR.';
  if (text.endsWith(' ')) return 'Leave no space after a modifier.';
  if (/^\d/.test(text)) return 'Write a sign before the number: +1 HOUR.';
  return 'Write each modifier like +1 HOUR, START OF DAY or WEEKDAY 1.';
}

// The functions below have the same results as SQLite's date.c. Adding seconds, minutes, hours or days may give a time
// outside the years -4713 to 9999, and a later addition may lead back into these years. All other modifiers need a time
// within these years. A day beyond the end of its month counts into the next month: 31 January + 1 month is 3 March, or
// 2 March in a leap year.
const julianMin = -210_866_760_000_000;
const julianYearMin = -4713;

function applyModifier(modifier: Modifier, at: number): number | null {
  if (modifier.kind === 'add' && modifier.unit !== 'month' && modifier.unit !== 'year') {
    return at + modifier.amount * fixedMs[modifier.unit];
  }
  if (at < julianMin || at > instantMax) return null;
  const days = Math.floor(at / dayMs);
  switch (modifier.kind) {
    case 'add': return addMonths(at, days, modifier.unit === 'month' ? modifier.amount : modifier.amount * 12);
    case 'startOf': return startOf(modifier.unit, at, days);
    case 'weekday': return at + ((modifier.weekday - weekdayOf(days) + 7) % 7) * dayMs;
  }
}

function addMonths(at: number, days: number, amount: number): number | null {
  const { year, month, day } = civilOf(days);
  const months = year * 12 + month - 1 + amount;
  const newYear = Math.floor(months / 12);
  if (newYear < julianYearMin || newYear > 9999) return null;
  return at + (daysOf(newYear, months - newYear * 12 + 1, day) - days) * dayMs;
}

function startOf(unit: 'hour' | 'day' | 'month' | 'year', at: number, days: number): number {
  if (unit === 'hour') return Math.floor(at / fixedMs.hour) * fixedMs.hour;
  if (unit === 'day') return days * dayMs;
  const { year, month } = civilOf(days);
  return daysOf(year, unit === 'year' ? 1 : month, 1) * dayMs;
}
