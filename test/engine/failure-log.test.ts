// The log of an engine: what failed for good is in it, without secrets, and a flood of failures is not.
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { silent } from '../../src/logger.ts';
import { FailureLog } from '../../src/engine/attempt/failure-log.ts';
import type { Change } from '../../src/model/change.ts';
import { VirtualClock } from '../../src/time/clock.ts';

test('a run that failed for good is logged once, and one that is retried is not', async () => {
  const warned: string[] = [];
  const doomed = jobType('doomed', {
    retry: { attempts: 2, base: '1ms' },
    run: () => {
      throw new Error('refused: password=hunter2\nsecond line');
    },
  });
  await using engine = new Engine({ store: 'memory:', types: [doomed], logger: { ...silent, warn: (text) => void warned.push(text) } });
  await engine.resume();
  const run = await engine.createJobRun(doomed);
  await run.result().catch(() => {});
  expect(warned).toEqual([`run ${run.id} (doomed) failed: refused: password=[redacted]`]);
});

test('of many failures ten a second are logged in full, and the rest as a number at the end of the second', async () => {
  const warned: string[] = [];
  const clock = new VirtualClock(0);
  const log = new FailureLog({ logger: { warn: (text) => void warned.push(text) }, clock });
  const after = { id: 1, kind: 'run', type: 'x', attempt: 1, error: { code: 'unknown', message: 'no' } };
  const change = { before: null, after, events: [{ kind: 'failed' }] } as unknown as Change;
  for (let n = 0; n < 250; n++) log.note(change);
  expect(warned).toHaveLength(10);
  await clock.advance(1_000);
  expect(warned.slice(10)).toEqual(['240 more jobs failed']);
  log.note(change);
  await clock.advance(10_000);
  expect(warned.slice(11)).toEqual(['run 1 (x) failed: no']);
});
