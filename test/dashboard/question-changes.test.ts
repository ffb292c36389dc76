// Which changes make the page of questions reload: those of what it shows, and new questions.
import { expect, test } from 'vitest';
import { changesQuestions } from '../../dashboard/src/state/question-changes.ts';
import type { Changed } from '../../src/http/contract.ts';

const changed = (job: number, kind: string, data: Changed['event']['data'] = {}): Changed =>
  ({ job, kind: 'run', type: 'refund', def: null, parent: null, event: { n: 2, at: 0, by: 'test', why: null, kind, data } });

const others = [changed(7, 'created'), changed(7, 'claimed'), changed(8, 'slept', { name: 'night', due: 5 }), changed(7, 'succeeded')];

test('runs that ask nothing do not change the questions', () => {
  expect(changesQuestions(others, [])).toBe(false);
  expect(changesQuestions(others, [{ run: 1 }, { run: 2 }])).toBe(false);
});

test('a run that begins to wait changes the questions', () => {
  expect(changesQuestions([...others, changed(9, 'slept', { name: 'refund', due: 5, waits: true })], [])).toBe(true);
});

test.each(['answered', 'unanswered', 'reopened', 'cancelled', 'claimed'])('%s of a run that is shown changes the questions', (kind) => {
  expect(changesQuestions([...others, changed(2, kind)], [{ run: 1 }, { run: 2 }])).toBe(true);
});
