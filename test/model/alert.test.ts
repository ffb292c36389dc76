// The decision of alerts: which states change, and that every change is in one message, however observations arrive.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changesMax, forgetOld, noAlertState, observeEnds, observeRuns, subjectOf, takeMessage, watcherOf, type AlertMessage, type AlertSpec,
  type AlertState, type ObservedEnd,
} from '../../src/model/alert.ts';

const spec: AlertSpec = {
  definitions: [], types: ['*'], tags: {}, when: { failedInARow: 1 }, to: { webhook: 'https://example.com' },
  recovered: true, everyMs: 60_000, enabled: true,
};
const name = 'a';

const end = (subject: string, hasFailed: boolean, at = 0, run = 1): ObservedEnd =>
  ({ subject, type: subject, run, at, hasFailed, error: hasFailed ? 'no' : null });
const failing = (state: AlertState): string[] =>
  Object.entries(state.subjects).filter(([, { since }]) => since !== null).map(([subject]) => subject).sort();
const message = (state: AlertState, at = 0): AlertMessage | null => takeMessage(state, { name, everyMs: spec.everyMs }, at).message;

describe('failures in a row', () => {
  test('make a subject failing at the n-th, and the next success ends it', () => {
    const thrice = { ...spec, when: { failedInARow: 3 } };
    const twice = observeEnds(noAlertState, thrice, [end('a', true), end('a', true)]);
    expect(failing(twice)).toEqual([]);
    expect(failing(observeEnds(twice, thrice, [end('a', false), end('a', true)]))).toEqual([]);
    const now = observeEnds(twice, thrice, [end('a', true), end('a', true)]);
    expect([failing(now), now.changes]).toEqual([['a'], 1]);
    const well = observeEnds(now, thrice, [end('a', false)]);
    expect([well.subjects, well.changes]).toEqual([{}, 2]);
  });

  test('are forgotten a month after the last of them, without a message', () => {
    const month = 30 * 86_400_000;
    const state = observeEnds(noAlertState, spec, [end('gone', true, 0), end('a', true, 0), end('a', true, month)]);
    expect(failing(forgetOld(state, spec, month - 1))).toEqual(['a', 'gone']);
    const later = forgetOld(state, spec, month);
    expect([failing(later), later.changes]).toEqual([['a'], 2]);
  });

  test('alone are forgotten: what is late for a month still recovers', () => {
    const late = { ...spec, when: { lateMs: 1 } };
    const state = observeRuns(noAlertState, late, { runs: [{ subject: 'a', type: 'a', run: 1 }], unknown: new Set(), at: 0 });
    expect(failing(forgetOld(state, late, 31 * 86_400_000))).toEqual(['a']);
  });

  test('of 10,000 runs are one change, and of 10,000 subjects one message with a bounded list', () => {
    const one = observeEnds(noAlertState, spec, Array.from({ length: 10_000 }, () => end('a', true)));
    expect([one.changes, message(one)!.changes.length]).toEqual([1, 1]);
    const many = observeEnds(noAlertState, spec, Array.from({ length: 10_000 }, (_, at) => end(`s${at}`, true)));
    expect(message(many)).toMatchObject({ from: 1, to: 10_000, failing: 10_000, recovered: 0 });
    expect(message(many)!.changes).toHaveLength(changesMax);
  });

  test('without messages of recovery leave nothing to send at the recovery', () => {
    const quiet = { ...spec, recovered: false };
    const failed = takeMessage(observeEnds(noAlertState, quiet, [end('a', true)]), { ...quiet, name }, 0);
    const well = observeEnds(failed.state, quiet, [end('a', false)]);
    expect([failed.message!.failing, failing(well), message(well, 1e9)]).toEqual([1, [], null]);
  });

  test('keep secrets out of the message', () => {
    const state = observeEnds(noAlertState, spec, [{ ...end('a', true), error: 'login with password=hunter2 failed' }]);
    expect(message(state)!.changes[0]!.error).toBe('login with password=[redacted] failed');
  });
});

describe('late and long runs', () => {
  const late = { ...spec, when: { lateMs: 1 } };
  const seen = (...subjects: string[]) =>
    ({ runs: subjects.map((subject) => ({ subject, type: subject, run: 7 })), unknown: new Set<string>(), at: 5 });

  test('fail a subject once while there are any, and it recovers when there are none', () => {
    const first = observeRuns(noAlertState, late, seen('a', 'a', 'b'));
    expect([failing(first), first.changes]).toEqual([['a', 'b'], 2]);
    const second = observeRuns(first, late, seen('b'));
    expect([failing(second), second.changes]).toEqual([['b'], 3]);
  });

  test('of which nothing is known do not recover; others do', () => {
    const first = observeRuns(noAlertState, late, seen('a', 'c'));
    const second = observeRuns(first, late, { ...seen('b'), unknown: new Set(['a']) });
    expect(failing(second)).toEqual(['a', 'b']);
  });
});

describe('messages', () => {
  test('come at once, and then at most as often as the alert says', () => {
    const first = takeMessage(observeEnds(noAlertState, spec, [end('a', true)]), { ...spec, name }, 1_000);
    expect(first.message).toMatchObject({ number: 1, from: 1, to: 1 });
    const later = observeEnds(first.state, spec, [end('b', true), end('a', false), end('a', true)]);
    expect(message(later, 60_999)).toBeNull();
    expect(message(later, 61_000)).toMatchObject({ number: 2, from: 2, to: 4, failing: 2 });
    expect(message(later, 61_000)!.changes.map(({ subject, count }) => [subject, count])).toEqual([['b', 1], ['a', 2]]);
  });

  const observations = fc.array(fc.oneof(
    { weight: 5, arbitrary: fc.record({ subject: fc.constantFrom('a', 'b', 'c'), hasFailed: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ waitMs: fc.integer({ min: 0, max: 120_000 }) }) },
  ), { maxLength: 60 });

  test('have every change of state exactly once, in order, whatever is observed when', () => {
    fc.assert(fc.property(observations, fc.integer({ min: 1, max: 3 }), (steps, inARow) => {
      const own = { ...spec, when: { failedInARow: inARow } };
      const failures = new Map<string, number>();
      let [state, now, changes]: [AlertState, number, number] = [noAlertState, 0, 0];
      const sent: AlertMessage[] = [];
      for (const step of [...steps, { waitMs: 120_000 }]) {
        if ('waitMs' in step) now += step.waitMs;
        else {
          const before = failures.get(step.subject) ?? 0;
          failures.set(step.subject, step.hasFailed ? before + 1 : 0);
          if (step.hasFailed ? before + 1 === inARow : before >= inARow) changes += 1;
          state = observeEnds(state, own, [end(step.subject, step.hasFailed, now)]);
        }
        const taken = takeMessage(state, { ...own, name }, now);
        state = taken.state;
        if (taken.message) sent.push(taken.message);
      }
      expect(failing(state)).toEqual([...failures].filter(([, count]) => count >= inARow).map(([subject]) => subject).sort());
      expect(sent.map(({ number }) => number)).toEqual(sent.map((_, index) => index + 1));
      expect(sent.map(({ from }) => from)).toEqual([1, ...sent.map(({ to }) => to + 1)].slice(0, sent.length));
      expect([state.changes, sent.at(-1)?.to ?? 0]).toEqual([changes, changes]);
      expect(sent.map(({ from, to }) => to - from + 1)).toEqual(
        sent.map((each) => each.changes.reduce((sum, { count }) => sum + count, 0)));
      expect(sent.every(({ at }, index) => index === 0 || at - sent[index - 1]!.at >= own.everyMs)).toBe(true);
    }));
  });

  test('do not depend on how the ends are divided into pages', () => {
    const ends = fc.array(fc.record({ subject: fc.constantFrom('a', 'b'), hasFailed: fc.boolean() }), { maxLength: 30 });
    fc.assert(fc.property(ends, fc.nat(30), (given, cut) => {
      const all = given.map(({ subject, hasFailed }, at) => end(subject, hasFailed, at, at));
      const paged = observeEnds(observeEnds(noAlertState, spec, all.slice(0, cut)), spec, all.slice(cut));
      expect(paged).toEqual(observeEnds(noAlertState, spec, all));
    }));
  });
});

describe('an alert watches', () => {
  const run = { def: null, type: 'mail.send', tags: null };

  test.each<[string, Partial<AlertSpec>, Partial<typeof run> | { def: string } | { tags: Record<string, string> }, boolean]>([
    ['all runs, if it names none', { types: [] }, {}, true],
    ['a type by its pattern', { types: ['mail.*'] }, {}, true],
    ['no other type', { types: ['mail'] }, {}, false],
    ['a definition by its pattern', { types: [], definitions: ['nightly-*'] }, { def: 'nightly-mail' }, true],
    ['no run without a definition', { types: [], definitions: ['*'] }, {}, false],
    ['a run with all its tags', { tags: { team: 'a' } }, { tags: { team: 'a', more: 'b' } }, true],
    ['no run without one of its tags', { tags: { team: 'a', more: 'c' } }, { tags: { team: 'a', more: 'b' } }, false],
  ])('%s', (_, changes, of, expected) => {
    expect(watcherOf({ ...spec, ...changes })({ ...run, ...of })).toBe(expected);
  });

  test('the definition of a run, or its type', () => {
    expect([subjectOf(run), subjectOf({ ...run, def: 'nightly' })]).toEqual(['type mail.send', 'definition nightly']);
  });
});
