// The rule of unique keys: which change needs one, which releases it, and who must hold it.
import { expect, test } from 'vitest';
import type { Job, UniqueKey } from '../../src/model/job.ts';
import { create, step } from '../../src/model/machine.ts';
import { holdsKey, keyUntil, neededKey, releasedKey } from '../../src/model/unique-key.ts';
import type { Change } from '../../src/model/change.ts';
import type { Command } from '../../src/model/command.ts';

const asking = { by: 'test', now: 1000 };

const created = (unique: UniqueKey | null): Change => create({
  id: 1, kind: 'run', type: 'plain', def: null, parent: null, key: null, created: 1000, gate: null, unique, policy: {},
  tags: null, input: '{}', tick: null, follows: null, typeVersion: 1,
}, { due: 1000, priority: 0 }, asking);

const changed = (job: Job, command: Command): Change => step(job, command, asking) as Change;

const whileOpen = { key: 'k', forMs: null };
const forAnHour = { key: 'k', forMs: 3_600_000 };

test('a new job needs its key, whichever it is', () => {
  expect([null, whileOpen, forAnHour].map((unique) => neededKey(created(unique)))).toEqual([null, 'k', 'k']);
});

test('a key without a period is released at the end of its job and needed to reopen it', () => {
  const { after } = created(whileOpen);
  const end = changed(after!, { do: 'stop', code: 'user' });
  expect([neededKey(end), releasedKey(end)]).toEqual([null, 'k']);
  const reopened = changed(end.after!, { do: 'retry', reopens: 0 });
  expect([neededKey(reopened), releasedKey(reopened)]).toEqual(['k', null]);
  expect(releasedKey({ before: after!, after: null })).toBe('k');
  expect(releasedKey({ before: end.after!, after: null })).toBe(null);
});

test('a key with a period is neither released nor needed again', () => {
  const { after } = created(forAnHour);
  const end = changed(after!, { do: 'stop', code: 'user' });
  const reopened = changed(end.after!, { do: 'retry', reopens: 0 });
  expect([end, reopened, { before: after!, after: null }].flatMap((change) => [neededKey(change), releasedKey(change)]))
    .toEqual([null, null, null, null, null, null]);
});

test('a job holds its key while it is open, or until its period ends', () => {
  const [open, timed] = [created(whileOpen).after!, created(forAnHour).after!];
  const ended = changed(open, { do: 'stop', code: 'user' }).after!;
  expect([keyUntil(open), keyUntil(timed)]).toEqual([null, 3_601_000]);
  expect([holdsKey(open, 9e9), holdsKey(ended, 0), holdsKey(created(null).after!, 0)]).toEqual([true, false, false]);
  expect([holdsKey(timed, 3_600_999), holdsKey(timed, 3_601_000)]).toEqual([true, false]);
});
