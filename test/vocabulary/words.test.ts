// What holds of every vocabulary: each job that the machine can make has one word, and it changes only with an event.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endings, type EventKind } from '../../src/model/event.ts';
import { replay, blankJob } from '../../src/model/evolve.ts';
import { isOpen, type Job } from '../../src/model/job.ts';
import { fates, holds, phases, states } from '../../src/model/state.ts';
import { bedrockState, bedrockStates, created, lastRun, nextRun } from '../../src/vocabulary/bedrock.ts';
import { configurationOf, jobStatuses, processStatus, runStatus } from '../../src/vocabulary/configuration.ts';
import { isFailed, isSucceeded, runState, runStates, taskState, taskStates } from '../../src/vocabulary/jobrun.ts';
import { lockOf, lockStates, scheduledState, scheduledStates } from '../../src/vocabulary/scheduled.ts';
import { fateOf, stageOf, stages } from '../../src/vocabulary/stage.ts';
import { reachable } from '../support/reachable.ts';

interface Vocabulary {
  readonly wordOf: (job: Job) => string | null;
  readonly all: readonly (string | null)[];
}

const vocabularies: Readonly<Record<string, Vocabulary>> = {
  'JobRun': { wordOf: runState, all: runStates },
  'JobTask': { wordOf: taskState, all: taskStates },
  'Bedrock': { wordOf: bedrockState, all: bedrockStates },
  'stage': { wordOf: stageOf, all: stages },
  'fate': { wordOf: fateOf, all: [null, 'complete', 'error', 'terminate'] },
  'status of a run': { wordOf: runStatus, all: jobStatuses },
  'status of a process': { wordOf: processStatus, all: [null, 'RUNNING', 'SUCCESS', 'ERROR', 'CANCELLED'] },
  'status of a definition': { wordOf: (job) => configurationOf(job, []).status, all: ['SCHEDULED', 'DISABLED'] },
  'scheduled task': { wordOf: scheduledState, all: scheduledStates },
  'lock': { wordOf: (job) => lockOf(job).state, all: [null, ...lockStates] },
};

/** A heartbeat: the one thing a store changes in a job without an event. */
const extended = (job: Job): Job =>
  job.state === 'running' ? { ...job, lease: { ...job.lease, until: (job.lease.until ?? 0) + 60_000 } } : job;

describe.each(Object.entries(vocabularies))('the vocabulary of %s', (_name, { wordOf, all }) => {
  test('is total: every reachable job has one of its words', () => {
    fc.assert(
      fc.property(reachable(), ({ birth, moments }) => {
        for (const { job } of moments) expect(all).toContain(wordOf(job));
        expect(all).toContain(wordOf(blankJob(birth)));
      }),
    );
  });

  test('is stable: its word changes only with an event, and the events alone decide it', () => {
    fc.assert(
      fc.property(reachable(), ({ birth, moments }) => {
        for (const [index, { job, events }] of moments.entries()) {
          const before = moments[index - 1];
          if (before?.events.length === events.length) expect(wordOf(job)).toBe(wordOf(before.job));
          expect(wordOf(extended(job))).toBe(wordOf(job));
          expect(wordOf(replay(birth, events))).toBe(wordOf(job));
        }
      }),
    );
  });
});

describe('between the vocabularies', () => {
  test('all agree on whether a job has ended, and how', () => {
    fc.assert(
      fc.property(reachable(), ({ job }) => {
        const run = runState(job);
        expect(run === 'DONE' || run === 'CANCELLED').toBe(!isOpen(job));
        expect(stageOf(job) === 'done').toBe(!isOpen(job));
        expect(isSucceeded(job)).toBe(fateOf(job) === 'complete');
        expect(isFailed(job)).toBe(fateOf(job) === 'error');
        expect(isFailed(job)).toBe(bedrockState(job) === 'FAILED');
        expect(isFailed(job)).toBe(scheduledState(job) === 'failed');
        expect(isSucceeded(job)).toBe(runStatus(job) === 'COMPLETED');
        expect(run === 'CANCELLED').toBe(runStatus(job) === 'STOPPED');
      }),
    );
  });

  test('only a job with a lease has a lock', () => {
    fc.assert(
      fc.property(reachable(), ({ job }) => {
        const { owner, state } = lockOf(job);
        expect([owner !== null, state !== null]).toEqual([job.state === 'running', job.state === 'running']);
      }),
    );
  });

  test('the times of Bedrock can always be formatted', () => {
    fc.assert(
      fc.property(reachable(), ({ job }) => {
        const shape = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
        expect(created(job)).toMatch(shape);
        expect(nextRun(job)).toMatch(shape);
        expect(lastRun(job) === '').toBe(job.fence === 0);
      }),
    );
  });
});

test('the random jobs come to every state, hold, phase, fate, word and kind of event', () => {
  const kinds: readonly EventKind[] = [
    'created', 'claimed', 'released', 'slept', 'answered', 'unanswered', 'lapsed', 'retried', 'handedOff', 'planned', 'adopted', 'settled', 'freed',
    'followed', 'proceeded', 'awaited',
    'paused', 'resumed', 'cancelAsked', 'repeated', 'reopened', 'edited', 'ticked', ...endings,
  ];
  const lives = fc.sample(reachable(), { numRuns: 1_500, seed: 6 });
  const jobs = lives.flatMap(({ moments }) => moments.map(({ job }) => job));
  const seen = (of: (job: Job) => unknown): ReadonlySet<unknown> => new Set(jobs.map(of));
  expect(seen(({ state }) => state)).toEqual(new Set(states));
  expect(seen((job) => (job.state === 'held' ? job.hold : 'none'))).toEqual(new Set([...holds, 'none']));
  expect(seen(({ phase }) => phase)).toEqual(new Set(phases));
  expect(seen((job) => (job.state === 'ended' ? job.fate : 'none'))).toEqual(new Set([...fates, 'none']));
  expect(new Set(lives.flatMap(({ events }) => events.map(({ kind }) => kind)))).toEqual(new Set(kinds));
  const unseen = Object.entries(vocabularies).flatMap(([name, { wordOf, all }]) => {
    const told = new Set([...jobs, blankJob(lives[0]!.birth)].map(wordOf));
    return all.filter((word) => !told.has(word)).map((word) => `${name}: ${word}`);
  });
  expect(unseen).toEqual(['status of a run: NOT_STARTED']);
});
