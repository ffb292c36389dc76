/** Formats numbers, durations and times for people. */

const grouped = new Intl.NumberFormat('en');

/** Formats a number as `12,345`. */
export const number = (value: number): string => grouped.format(value);

/** Formats a number as `1.2 M` or `34 k`: for large counts whose last digits do not matter. */
export function compact(value: number): string {
  if (value >= 1e6) return `${threeDigits(value / 1e6)} M`;
  return value >= 1e4 ? `${threeDigits(value / 1e3)} k` : number(value);
}

const threeDigits = (value: number): string => String(Number(value.toPrecision(3)));

/** Formats a size as `1.5 MB` or `340 kB`. */
export function bytes(size: number): string {
  if (size >= 1e9) return `${threeDigits(size / 1e9)} GB`;
  if (size >= 1e6) return `${threeDigits(size / 1e6)} MB`;
  return size >= 1e3 ? `${threeDigits(size / 1e3)} kB` : `${number(size)} B`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

/** Formats a duration as `840 ms`, `12.3 s`, `4 min 10 s`, `2 h 5 min` or `3 d 4 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${threeDigits(Math.floor(ms / 100) / 10)} s`;
  const [minutes, hours, days] = [Math.floor(ms / 60_000), Math.floor(ms / 3_600_000), Math.floor(ms / 86_400_000)];
  if (hours < 1) return pair(minutes, 'min', Math.floor(ms / 1_000) % 60, 's');
  if (days < 1) return pair(hours, 'h', minutes % 60, 'min');
  return pair(days, 'd', hours % 24, 'h');
}

const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${big} ${bigUnit}` : `${big} ${bigUnit} ${small} ${smallUnit}`;

/** Formats a rate as `12.5/s`, or as `40/min` if it is below one per second. */
export function rate(perMs: number): string {
  const perSecond = perMs * 1_000;
  const tenths = (value: number): string => number(Math.round(value * 10) / 10);
  return perSecond >= 1 ? `${tenths(perSecond)}/s` : `${tenths(perSecond * 60)}/min`;
}

/** Formats a time relative to now: `3 min ago`, `just now` or `in 2 h`. */
export function relativeTime(at: number, now: number): string {
  const ms = now - at;
  const rounded = roundedDuration(Math.abs(ms));
  if (rounded === '') return ms >= 0 ? 'just now' : 'now';
  return ms > 0 ? `${rounded} ago` : `in ${rounded}`;
}

/** Rounds a duration to one unit, such as `3 min`; empty below 1.5 s. */
function roundedDuration(ms: number): string {
  if (ms < 1_500) return '';
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

/** Formats a time as `2026-11-15 07:20:52`, in UTC or in the browser's time zone. */
export function timestamp(at: number, zone: 'UTC' | 'local', hasMs = false): string {
  const date = new Date(zone === 'UTC' ? at : at - new Date(at).getTimezoneOffset() * 60_000);
  const day = `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`;
  const time = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`;
  return `${day} ${time}${hasMs ? `.${pad(date.getUTCMilliseconds(), 3)}` : ''}`;
}

/** Formats a share as a percentage, rounded down to a tenth, so that only the whole is 100 %. */
export const percent = (part: number, all: number): string =>
  all === 0 ? '–' : `${threeDigits(Math.floor((part / all) * 1_000) / 10)} %`;
