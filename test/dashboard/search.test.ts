// The search language of the dashboard: how its text becomes the filter of the API.
import { describe, expect, test } from 'vitest';
import { readSearch, runIdOf, withTerm } from '../../dashboard/src/search.ts';

const now = Date.parse('2026-11-15T12:00:00Z');
const hourMs = 3_600_000;
const filterOf = (text: string) => {
  const result = readSearch(text, now);
  return result.error === null ? result.filter : result.error;
};

describe('times', () => {
  test('created:<1h means younger than an hour, created:>1h means older', () => {
    expect(filterOf('created:<1h')).toEqual({ from: now - hourMs });
    expect(filterOf('created:>1h')).toEqual({ before: now - hourMs });
  });

  test('created:<DATE means before that date, created:>DATE means from it on', () => {
    const date = Date.parse('2026-01-31');
    expect(filterOf('created:<2026-01-31')).toEqual({ before: date });
    expect(filterOf('created:>2026-01-31')).toEqual({ from: date });
  });

  test('due:<30m means due within 30 minutes', () => {
    expect(filterOf('due:<30m')).toEqual({ dueBefore: now + hourMs / 2 });
  });

  test('due:>30m is refused, because the API can only search for runs that are due before a time', () => {
    expect(filterOf('due:>30m')).toMatch(/^due: supports only </);
    expect(filterOf('due:>2026-01-31')).toMatch(/^due: supports only </);
  });
});

describe('qualifiers', () => {
  test('a second value for a qualifier is refused, because it would replace the first one', () => {
    for (const text of [
      'state:failed state:held', 'type:a type:b', 'def:a def:b', 'error:a error:b', 'kind:run kind:task',
      'parent:1 parent:2', 'payload.a:1 payload.b:2', 'created:<1h created:<2h', 'due:<1h due:<2h',
    ]) expect(filterOf(text), text).toMatch(/more than once/);
  });

  test('tags and the two ends of a period can be combined', () => {
    expect(filterOf('tag:a=1 tag:b=2')).toEqual({ tag: ['a:1', 'b:2'] });
    expect(filterOf('created:>2h created:<2026-01-31')).toMatch(/more than once/);
    expect(filterOf('created:<2h created:>1h')).toEqual({ from: now - 2 * hourMs, before: now - hourMs });
  });

  test('an unknown qualifier, state or tag is refused with what to write instead', () => {
    expect(filterOf('colour:red')).toMatch(/^unknown qualifier "colour"; use /);
    expect(filterOf('state:fail')).toMatch(/^unknown state "fail"; use pending/);
    expect(filterOf('tag:red')).toBe('write a tag as tag:name=value');
    expect(filterOf('parent:x')).toBe('parent: takes a run number');
  });

  test('replacing a qualifier keeps the others and quotes spaces', () => {
    expect(withTerm('state:failed type:mail', 'state', 'held')).toBe('type:mail state:held');
    expect(withTerm('state:failed', 'def', 'nightly invoices')).toBe('state:failed def:"nightly invoices"');
    expect(withTerm('state:failed', 'state', null)).toBe('');
  });
});

test('a run number is recognized alone, with "run" or "#", and not beside other words', () => {
  expect(['123', 'run 123', '#123', ' Run 123 '].map(runIdOf)).toEqual([123, 123, 123, 123]);
  expect(['', 'mail', 'state:failed 123', '123 mail', '0'].map(runIdOf)).toEqual([null, null, null, null, null]);
});
