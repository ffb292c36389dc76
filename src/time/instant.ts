/** Instants: milliseconds since 1970-01-01 UTC, within the years 0000 to 9999. Parses and formats their texts. */
import { Refusal } from '../refusal.ts';
import { civilOf, dayMs, daysInMonth, daysOf } from './civil.ts';
import { kindOf, malformed, requireText } from './malformed.ts';

/** 0000-01-01 00:00:00 */
export const instantMin = -62_167_219_200_000;
/** 9999-12-31 23:59:59.999 */
export const instantMax = 253_402_300_799_999;

const textMax = 64;
const isoShape = /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const timestampShape = /^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d{3}))?)?$/;

export function checkInstant(value: unknown, what = 'A time'): number {
  if (typeof value !== 'number' || !(value >= instantMin && value <= instantMax)) {
    const sentence = `${what} must be a number of milliseconds since 1970 within the years 0000 to 9999`;
    throw new Refusal('malformed.time', `${sentence}, not ${kindOf(value)}.`);
  }
  return value;
}

/** Parses ISO 8601 with a zone, such as `2026-03-29T02:30:00Z` or `2026-03-29T02:30+02:00`. */
export function parseInstant(text: string): number {
  const found = isoShape.exec(requireText(text, 'malformed.time', 'A time', textMax));
  if (!found) {
    const sentence = 'Write the time like 2026-03-29T02:30:00Z or with an offset like +02:00.';
    throw malformed('malformed.time', sentence, text, 0);
  }
  const [, year, month, day, hour, minute, second, fraction, sign, zoneHour, zoneMinute] = found;
  const wall = wallMs(text, [year, month, day], [hour, minute, second], fraction);
  if (Number(zoneHour ?? 0) > 23 || Number(zoneMinute ?? 0) > 59) {
    throw malformed('malformed.time', 'Give the offset as hours and minutes, like +02:00.', text, text.length - 6);
  }
  const offset = (Number(zoneHour ?? 0) * 60 + Number(zoneMinute ?? 0)) * 60_000;
  return checkInstant(sign === '-' ? wall + offset : wall - offset);
}

/** Parses `YYYY-MM-DD` or `YYYY-MM-DD HH:MM:SS[.mmm]`, in UTC: the times of the Bedrock protocol. */
export function parseTimestamp(text: string): number {
  const found = timestampShape.exec(requireText(text, 'malformed.time', 'A time', textMax));
  if (!found) throw malformed('malformed.time', 'Write the time like 2026-03-29 02:30:00, in UTC.', text, 0);
  const [, year, month, day, hour, minute, second, fraction] = found;
  return wallMs(text, [year, month, day], [hour, minute, second], fraction);
}

/** Returns `YYYY-MM-DD HH:MM:SS` in UTC, without the fraction of the second. */
export function formatTimestamp(instant: number): string {
  const days = Math.floor(checkInstant(instant) / dayMs);
  const seconds = Math.floor((instant - days * dayMs) / 1000);
  const { year, month, day } = civilOf(days);
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  return `${date} ${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

type Digits = string | undefined;

function wallMs(
  text: string, [year, month, day]: Digits[], [hour, minute, second]: Digits[], fraction: Digits,
): number {
  const [y, m, d] = [Number(year), Number(month), Number(day)];
  if (m < 1 || m > 12) throw malformed('malformed.time', `There is no month ${m}: use 01 to 12.`, text, 5);
  if (d < 1 || d > daysInMonth(y, m)) {
    throw malformed('malformed.time', `${year}-${month} has no day ${d}: use 01 to ${daysInMonth(y, m)}.`, text, 8);
  }
  const [h, min, s] = [Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0)];
  if (h > 23 || min > 59 || s > 59) {
    throw malformed('malformed.time', 'Use a time of day from 00:00:00 to 23:59:59.', text, 11);
  }
  const ms = Number((fraction ?? '').padEnd(3, '0').slice(0, 3));
  return daysOf(y, m, d) * dayMs + ((h * 60 + min) * 60 + s) * 1000 + ms;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
