/**
 * GLOB patterns over names, with exactly the semantics of SQLite's GLOB: `*`, `?`, `[set]`, `[^set]`, case-sensitive.
 */
import { Refusal } from '../refusal.ts';

export const globCharsMax = 256;
export const globStarsMax = 8;

export interface Glob {
  readonly text: string;
  readonly tokens: readonly GlobToken[];
}

export type GlobToken =
  | { readonly kind: 'char'; readonly code: number }
  | { readonly kind: 'one' }
  | { readonly kind: 'any' }
  | CharSet;

/** Ranges of code points, sorted and disjoint. A set without its closing `]` matches nothing, as in SQLite. */
interface CharSet {
  readonly kind: 'set';
  readonly inverted: boolean;
  readonly ranges: readonly CharRange[];
}

type CharRange = readonly [first: number, last: number];

/**
 * Parses a pattern. Throws `malformed.pattern` for characters that the stores compare differently, and for too many
 * characters or stars. A pattern without wildcards may have any length.
 */
export function parseGlob(text: string): Glob {
  checkCharacters(text);
  const glob = { text, tokens: readTokens(text) };
  if (!isLiteral(glob)) checkSize(glob);
  return glob;
}

export const isLiteral = (glob: Glob): boolean => glob.tokens.every(({ kind }) => kind === 'char');

/** Returns the text with which every matching name begins; for a pattern without wildcards, the whole name. */
export function literalPrefix(glob: Glob): string {
  const end = glob.tokens.findIndex(({ kind }) => kind !== 'char');
  return Array.from(glob.text).slice(0, end < 0 ? undefined : end).join('');
}

/**
 * Whether the name matches the pattern. On a mismatch, goes back only to the last star, and lets it match one more
 * character. Earlier stars need not match more, because the last star can match those characters instead. So there are
 * at most characters × tokens steps.
 */
export function matches(glob: Glob, name: string): boolean {
  const { tokens } = glob;
  let at = 0;
  let token = 0;
  let starToken = -1;
  let starAt = 0;
  while (at < name.length) {
    const code = name.codePointAt(at)!;
    const wanted = tokens[token];
    if (wanted?.kind === 'any') {
      starToken = token++;
      starAt = at;
    } else if (wanted !== undefined && accepts(wanted, code)) {
      token++;
      at += unitsOf(code);
    } else if (starToken >= 0) {
      token = starToken + 1;
      starAt += unitsOf(name.codePointAt(starAt)!);
      at = starAt;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'any') token++;
  return token === tokens.length;
}

/**
 * Returns an equivalent regular expression for PostgreSQL's `~`. It has no back-references, so PostgreSQL matches it
 * without backtracking.
 */
export const toPostgresRegex = (glob: Glob): string => `^${glob.tokens.map(regexOf).join('')}$`;

function checkCharacters(text: string): void {
  // These characters would match differently in each store: SQLite ends a text at NUL and reads U+FFFE and U+FFFF as
  // U+FFFD, and UTF-8 cannot represent half a surrogate pair.
  if (!text.isWellFormed() || /[\0\uFFFE\uFFFF]/.test(text)) {
    const message = 'cannot read the pattern: it holds NUL, U+FFFE, U+FFFF or half a surrogate pair';
    throw new Refusal('malformed.pattern', message);
  }
}

function checkSize({ text, tokens }: Glob): void {
  const chars = Array.from(text).length;
  if (chars > globCharsMax) {
    const message = `cannot take this pattern: it has ${chars} characters, and ${globCharsMax} are the most`;
    throw new Refusal('malformed.pattern', message, { chars, max: globCharsMax });
  }
  const stars = tokens.filter(({ kind }) => kind === 'any').length;
  if (stars > globStarsMax) {
    const message = `cannot take this pattern: it has ${stars} stars, and ${globStarsMax} are the most`;
    throw new Refusal('malformed.pattern', message, { stars, max: globStarsMax });
  }
}

function readTokens(text: string): GlobToken[] {
  const chars = Array.from(text);
  const tokens: GlobToken[] = [];
  for (let at = 0; at < chars.length; at++) {
    if (chars[at] === '[') {
      const { set, end } = readSet(chars, at + 1);
      tokens.push(set);
      at = end;
    } else {
      tokens.push(tokenOf(chars[at]!));
    }
  }
  return tokens;
}

function tokenOf(char: string): GlobToken {
  if (char === '*') return { kind: 'any' };
  if (char === '?') return { kind: 'one' };
  return { kind: 'char', code: codeOf(char) };
}

/**
 * Reads a set from the character after `[` on. `end` is the index of the closing `]`, or the length of the text if
 * there is none.
 */
function readSet(chars: readonly string[], start: number): { set: CharSet; end: number } {
  const inverted = chars[start] === '^';
  const body = inverted ? start + 1 : start;
  const end = chars.indexOf(']', body + 1); // a `]` that comes first is a member of the set
  if (end < 0) return { set: { kind: 'set', inverted: false, ranges: [] }, end: chars.length };
  return { set: { kind: 'set', inverted, ranges: joined(readRanges(chars.slice(body, end))) }, end };
}

/**
 * Reads the members of a set as SQLite does. A `-` makes a range unless it is first, last, directly after a range, or
 * after a `]` that comes first. Any character can end a range. A reversed range contains only the character it starts
 * with.
 */
function readRanges(chars: readonly string[]): CharRange[] {
  const ranges: CharRange[] = [];
  let prior: number | null = null;
  for (let at = 0; at < chars.length; at++) {
    const code = codeOf(chars[at]!);
    const next = chars[at + 1];
    if (chars[at] === '-' && prior !== null && next !== undefined) {
      ranges.push([prior, codeOf(next)]);
      prior = null;
      at++;
    } else {
      ranges.push([code, code]);
      prior = at === 0 && chars[at] === ']' ? null : code;
    }
  }
  return ranges;
}

/**
 * Sorts the ranges and merges those that touch, because fewer ranges are tested faster. Drops reversed ranges, which
 * PostgreSQL refuses. The first character of a reversed range remains, because `readRanges` has added it separately.
 */
function joined(ranges: readonly CharRange[]): CharRange[] {
  const sorted = ranges.filter(([first, last]) => first <= last).sort((a, b) => a[0] - b[0]);
  const apart: [number, number][] = [];
  for (const [first, last] of sorted) {
    const previous = apart.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else apart.push([first, last]);
  }
  return apart;
}

function accepts(token: GlobToken, code: number): boolean {
  switch (token.kind) {
    case 'char':
      return token.code === code;
    case 'one':
      return true;
    case 'set':
      return token.ranges.some(([first, last]) => first <= code && code <= last) !== token.inverted;
    case 'any':
      return false;
  }
}

function regexOf(token: GlobToken): string {
  switch (token.kind) {
    case 'char':
      return escaped(token.code);
    case 'one':
      return '.';
    case 'any':
      return '.*';
    case 'set':
      return setRegexOf(token);
  }
}

function setRegexOf({ inverted, ranges }: CharSet): string {
  if (ranges.length === 0) return '(?!)';
  const body = ranges.map(([first, last]) => (first === last ? escaped(first) : `${escaped(first)}-${escaped(last)}`));
  return `[${inverted ? '^' : ''}${body.join('')}]`;
}

/**
 * Returns the character for a PostgreSQL regular expression, inside a set or outside. In both positions, a backslash
 * escapes any ASCII character that is no letter or digit.
 */
function escaped(code: number): string {
  const char = String.fromCodePoint(code);
  return code < 0x80 && !/[0-9A-Za-z]/.test(char) ? `\\${char}` : char;
}

const codeOf = (char: string): number => char.codePointAt(0)!;
const unitsOf = (code: number): number => (code > 0xffff ? 2 : 1);
