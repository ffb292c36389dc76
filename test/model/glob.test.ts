// GLOB: ours, real SQLite and real PostgreSQL say the same, and no pattern is slow.
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { serverUrl } from '../support/fresh-database.ts';
import { sampleSize } from '../support/size.ts';
import { isRefusal } from '../../src/refusal.ts';
import {
  globCharsMax,
  globStarsMax,
  isLiteral,
  literalPrefix,
  matches,
  parseGlob,
  toPostgresRegex,
} from '../../src/model/glob.ts';
import type { Glob } from '../../src/model/glob.ts';

const says = (pattern: string, name: string): boolean => matches(parseGlob(pattern), name);

function refusalOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (isRefusal(error)) return error.code;
    throw error;
  }
  return 'none';
}

describe('what a pattern means', () => {
  test.each([
    ['', '', true],
    ['', 'a', false],
    ['a', 'a', true],
    ['a', 'A', false],
    ['*', '', true],
    ['*', 'anything\nat all', true],
    ['?', '', false],
    ['?', '😀', true],
    ['??', '😀', false],
    ['a*c', 'abbbc', true],
    ['a*c', 'abbbcd', false],
    ['*?*?*', 'a', false],
    ['*?*?*', 'ab', true],
    ['www/*', 'www/a/b', true],
    ['[a-c]', 'b', true],
    ['[^a-c]', 'b', false],
    ['[^a-c]', 'z', true],
    ['[^a-c]', '', false],
    ['[]]', ']', true],
    ['[^]]', ']', false],
    ['[]-a]', '-', true],
    ['[]-a]', '`', false],
    ['[a-]', '-', true],
    ['[-a]', '-', true],
    ['[a-c-e]', 'd', false],
    ['[a-c-e]', '-', true],
    ['[z-a]', 'z', true],
    ['[z-a]', 'm', false],
    ['[*]', '*', true],
    ['[*]', 'a', false],
    ['[é-ü]', 'ö', true],
    ['*[^😀]', '😀', false],
    ['[a', 'a', false],
    ['[a', '[a', false],
    ['*[', '[', false],
    ['\\*', '\\x', true],
    ['a%_', 'a%_', true],
    ['a%_', 'axx', false],
  ])('%j on %j is %s', (pattern, name, expected) => {
    expect(says(pattern, name)).toBe(expected);
  });

  test('a pattern without wildcards is literal, and its prefix is the whole of it', () => {
    const glob = parseGlob('manual/naïve-😀.job');
    expect(isLiteral(glob)).toBe(true);
    expect(literalPrefix(glob)).toBe('manual/naïve-😀.job');
  });

  test.each([
    ['mail/*', 'mail/'],
    ['😀?', '😀'],
    ['ab[c]d', 'ab'],
    ['*', ''],
  ])('the literal prefix of %j is %j', (pattern, prefix) => {
    expect(isLiteral(parseGlob(pattern))).toBe(false);
    expect(literalPrefix(parseGlob(pattern))).toBe(prefix);
  });
});

describe('what is refused', () => {
  test('a pattern may have 256 characters, and no more', () => {
    expect(refusalOf(() => parseGlob('*' + 'a'.repeat(globCharsMax - 1)))).toBe('none');
    expect(refusalOf(() => parseGlob('*' + '😀'.repeat(globCharsMax - 1)))).toBe('none');
    expect(refusalOf(() => parseGlob('*' + 'a'.repeat(globCharsMax)))).toBe('malformed.pattern');
  });

  test('a pattern may have 8 stars, and no more', () => {
    expect(refusalOf(() => parseGlob('*a'.repeat(globStarsMax)))).toBe('none');
    expect(refusalOf(() => parseGlob('*a'.repeat(globStarsMax + 1)))).toBe('malformed.pattern');
    expect(refusalOf(() => parseGlob('[*]'.repeat(globStarsMax + 1)))).toBe('none');
  });

  test('a literal may be longer, since it is only compared', () => {
    expect(says('a'.repeat(5_000), 'a'.repeat(5_000))).toBe(true);
  });

  test.each(['a\0b', '\ud83d', '\uFFFE', '\uFFFF'])('the characters of %j cannot be in a pattern', (pattern) => {
    expect(refusalOf(() => parseGlob(pattern))).toBe('malformed.pattern');
  });
});

describe('how long it takes', () => {
  /** Each step of the matcher reads one token, so reading tokens is counted. */
  function stepsOf(glob: Glob, name: string): number {
    let steps = 0;
    const tokens = new Proxy(glob.tokens, {
      get: (target, key) => {
        if (key !== 'length') steps++;
        return Reflect.get(target, key) as unknown;
      },
    });
    matches({ ...glob, tokens }, name);
    return steps;
  }

  test.each([
    ['eight letters, seven of them there', '*a'.repeat(8), 'a'.repeat(7) + 'b'.repeat(250)],
    ['eight letters and an end that is not there', '*a'.repeat(8) + 'b', 'a'.repeat(257)],
    ['parts that nearly match everywhere', '*aaaaaaaaaaaaaaab'.repeat(8), 'a'.repeat(4_000)],
    ['one long part that nearly matches', '*' + 'a'.repeat(254) + 'b', 'a'.repeat(3_000)],
    ['sets', '*[a-z]'.repeat(8) + '!', 'a'.repeat(2_000)],
    ['question marks', '*?'.repeat(8) + '!', 'a'.repeat(2_000)],
  ])('the steps stay below characters × tokens for %s', (_, pattern, name) => {
    const glob = parseGlob(pattern);
    expect(stepsOf(glob, name)).toBeLessThanOrEqual((name.length + 1) * (glob.tokens.length + 1));
  });

  test('the steps of any pattern on any name stay below characters × tokens', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 200 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '?', '[ab]', '[^a]'), maxLength: 20 });
    const stars = fc.array(pattern, { maxLength: 9 }).map((parts) => parts.join('*'));
    fc.assert(
      fc.property(stars, text, (pattern, name) => {
        const glob = parseGlob(pattern);
        expect(stepsOf(glob, name)).toBeLessThanOrEqual((name.length + 1) * (glob.tokens.length + 1) + 9);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('agreement with the databases', () => {
  const patternsCount = sampleSize(10_100);
  const namesPerPattern = 10;
  const plain = Array.from('aabbcAB09-]^.+$(){}|\\%_/ \n"\'é😀');
  const sets = ['[a-c]', '[^b-]', '[]a]', '[^]-b]', '[!-/]', '[a-c-é]', '[c-a]', '[é-😀]', '[^😀]'];
  const special = ['*', '*', '?', '[', ']', '[^', ...sets];

  const patternText = fc.array(fc.constantFrom(...plain, ...plain, ...special), { maxLength: 12 });

  /** A name that the pattern may well match: wildcards are filled in, and now and then a character is wrong. */
  const nameFor = (pattern: readonly string[]): fc.Arbitrary<string> =>
    fc
      .array(fc.tuple(fc.constantFrom(...plain), fc.nat(3), fc.nat(19)), {
        minLength: pattern.length,
        maxLength: pattern.length,
      })
      .map((luck) => pattern.map((part, at) => filled(part, ...luck[at]!)).join(''));

  function filled(part: string, char: string, count: number, slip: number): string {
    if (slip === 0) return char;
    if (part === '*') return char.repeat(count);
    return part.length > 1 || part === '?' ? char : part;
  }

  interface Pair {
    glob: Glob;
    name: string;
  }

  const pairs = fc
    .sample(
      patternText.chain((parts) =>
        fc
          .array(nameFor(parts), { minLength: namesPerPattern, maxLength: namesPerPattern })
          .map((names) => ({ pattern: parts.join(''), names })),
      ),
      { numRuns: patternsCount, seed: 20_260_815 },
    )
    .flatMap(({ pattern, names }): Pair[] => {
      if (pattern.split('*').length > globStarsMax) return [];
      const glob = parseGlob(pattern);
      return names.map((name) => ({ glob, name }));
    });

  const differing = (theirs: readonly boolean[]): unknown[] =>
    pairs.flatMap(({ glob, name }, at) => {
      const ours = matches(glob, name);
      return ours === theirs[at] ? [] : [{ pattern: glob.text, name, ours }];
    });

  test('the pairs are at least 100,000, a fifth of them in npm test, and many of them match', () => {
    expect(pairs.length).toBeGreaterThanOrEqual(sampleSize(100_000));
    expect(pairs.filter(({ glob, name }) => matches(glob, name)).length).toBeGreaterThan(sampleSize(15_000));
  });

  test('SQLite says the same on random pairs', () => {
    const sqlite = new DatabaseSync(':memory:');
    const ask = sqlite.prepare('select ? glob ? as matched');
    const theirs = pairs.map(({ glob, name }) => ask.get(name, glob.text)?.['matched'] === 1);
    sqlite.close();
    expect(differing(theirs)).toEqual([]);
  });

  test('PostgreSQL says the same on random pairs', async () => {
    const client = new pg.Client({ connectionString: await serverUrl() });
    await client.connect();
    try {
      const { rows } = await client.query<{ matched: boolean[] }>(
        `select array_agg(name ~ regex order by place) as matched
           from unnest($1::text[], $2::text[]) with ordinality as pair (name, regex, place)`,
        [pairs.map(({ name }) => name), pairs.map(({ glob }) => toPostgresRegex(glob))],
      );
      expect(differing(rows[0]!.matched)).toEqual([]);
    } finally {
      await client.end();
    }
  });

  test('PostgreSQL answers the worst patterns as we do, and at once', async () => {
    const client = new pg.Client({ connectionString: await serverUrl() });
    await client.connect();
    try {
      await client.query(`set statement_timeout = '5s'`);
      for (const pattern of ['*a'.repeat(8) + 'b', '*[a-z]'.repeat(8) + '!', '*' + '?'.repeat(254) + 'b']) {
        const glob = parseGlob(pattern);
        const name = 'a'.repeat(2_000);
        const { rows } = await client.query('select $1::text ~ $2::text as matched', [name, toPostgresRegex(glob)]);
        expect(rows).toEqual([{ matched: matches(glob, name) }]);
      }
    } finally {
      await client.end();
    }
  });
});
