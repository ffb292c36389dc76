// The table of states, row by row: one job of ours, and the word that each of the five vocabularies has for it.
import { describe, expect, test } from 'vitest';
import type { Job } from '../../src/model/job.ts';
import { bedrockState } from '../../src/vocabulary/bedrock.ts';
import { processStatus, runStatus } from '../../src/vocabulary/configuration.ts';
import { runState, taskState } from '../../src/vocabulary/jobrun.ts';
import { scheduledState } from '../../src/vocabulary/scheduled.ts';
import { fateOf, stageOf } from '../../src/vocabulary/stage.ts';
import { broken, cancel, claim, fail, made, pause, plan, requeue, settle, stop, succeed, unmade } from './made.ts';

interface Line {
  readonly job: Job;
  readonly run: string;
  readonly bedrock: string;
  readonly stage: string;
  readonly configuration: string;
  readonly scheduled: string;
}

const retryAfter = { policy: { retryAfter: '+5 MINUTES' } };
const withTasks = { first: { phase: 'prepare' } } as const;
const prepared = made(withTasks, [0, claim()], [1, plan(2)]);

const table: Readonly<Record<string, Line>> = {
  'being inserted': {
    job: unmade(),
    run: 'PENDING', bedrock: 'QUEUED', stage: 'create', configuration: 'SCHEDULED', scheduled: 'creating',
  },
  'pending': {
    job: made({}).job,
    run: 'PENDING', bedrock: 'QUEUED', stage: 'queue', configuration: 'SCHEDULED', scheduled: 'pending',
  },
  'held by pause': {
    job: made({}, [0, pause()]).job,
    run: 'PENDING', bedrock: 'PAUSED', stage: 'queue', configuration: 'DISABLED', scheduled: 'pending',
  },
  'held by parent': {
    job: made({ first: { hold: 'parent' } }).job,
    run: 'PENDING', bedrock: 'PAUSED', stage: 'queue', configuration: 'SCHEDULED', scheduled: 'pending',
  },
  'running, phase prepare': {
    job: made(withTasks, [0, claim()]).job,
    run: 'PENDING', bedrock: 'RUNNING', stage: 'run', configuration: 'RUNNING', scheduled: 'starting',
  },
  'running, phase prepare, with retryAfter': {
    job: made({ ...withTasks, ...retryAfter }, [0, claim()]).job,
    run: 'PENDING', bedrock: 'RUNQUEUED', stage: 'run', configuration: 'RUNNING', scheduled: 'starting',
  },
  'held by children': {
    job: prepared.job,
    run: 'RUNNING', bedrock: 'PAUSED', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'held by children, phase run': {
    job: made({}, [0, claim()], [1, plan(2)]).job,
    run: 'RUNNING', bedrock: 'PAUSED', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'pending again, phase run': {
    job: made({}, [0, claim()], [1, plan(2)], [2, settle()]).job,
    run: 'PENDING', bedrock: 'QUEUED', stage: 'queue', configuration: 'SCHEDULED', scheduled: 'pending',
  },
  'pending, phase gather': {
    job: made(withTasks, [0, claim()], [1, plan(2)], [2, settle()]).job,
    run: 'RUNNING', bedrock: 'QUEUED', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'running, phase gather': {
    job: made(withTasks, [0, claim()], [1, plan(2)], [2, settle()], [3, claim()]).job,
    run: 'RUNNING', bedrock: 'RUNNING', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'running': {
    job: made({}, [0, claim()]).job,
    run: 'RUNNING', bedrock: 'RUNNING', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'running with retryAfter': {
    job: made(retryAfter, [0, claim()]).job,
    run: 'RUNNING', bedrock: 'RUNQUEUED', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'running + cancelAsked': {
    job: made({}, [0, claim()], [1, cancel()]).job,
    run: 'CANCELLING', bedrock: 'RUNNING', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'phase prepare + cancelAsked': {
    job: made(withTasks, [0, claim()], [1, cancel()]).job,
    run: 'CANCELLING', bedrock: 'RUNNING', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'held by children + cancelAsked': {
    job: made(withTasks, [0, claim()], [1, plan(2)], [2, cancel()]).job,
    run: 'CANCELLING', bedrock: 'PAUSED', stage: 'run', configuration: 'RUNNING', scheduled: 'started',
  },
  'pending + cancelAsked': {
    job: made({}, [0, claim()], [1, cancel()], [2, requeue(0)]).job,
    run: 'CANCELLING', bedrock: 'QUEUED', stage: 'queue', configuration: 'RUNNING', scheduled: 'started',
  },
  'ended succeeded': {
    job: made({}, [0, claim()], [1, succeed()]).job,
    run: 'DONE', bedrock: 'FINISHED', stage: 'done: complete', configuration: 'COMPLETED', scheduled: 'completed',
  },
  'ended failed': {
    job: made({}, [0, claim()], [1, fail(broken, false)]).job,
    run: 'DONE', bedrock: 'FAILED', stage: 'done: error', configuration: 'FAILED', scheduled: 'failed',
  },
  'ended cancelled': {
    job: made({}, [0, stop()]).job,
    run: 'CANCELLED', bedrock: 'CANCELLED', stage: 'done: terminate', configuration: 'STOPPED', scheduled: 'cancelled',
  },
};

const stageText = (job: Job): string => [stageOf(job), fateOf(job)].filter((part) => part !== null).join(': ');

const lineOf = (job: Job): Line => ({
  job,
  run: runState(job),
  bedrock: bedrockState(job),
  stage: stageText(job),
  configuration: runStatus(job),
  scheduled: scheduledState(job),
});

describe('the table of states', () => {
  for (const [row, line] of Object.entries(table)) test(row, () => expect(lineOf(line.job)).toEqual(line));
});

describe('what the table says beside the words', () => {
  test('a task is never CANCELLING: its word stays what it was', () => {
    const { job } = made({ kind: 'task', parent: 1 }, [0, claim()], [1, cancel()]);
    expect([runState(job), taskState(job)]).toEqual(['RUNNING', 'RUNNING']);
  });

  test('the process of a run that is asked to cancel is CANCELLED at once, while its status is RUNNING', () => {
    const { job } = made({}, [0, claim()], [1, cancel()]);
    expect([runStatus(job), processStatus(job)]).toEqual(['RUNNING', 'CANCELLED']);
  });

  test.each([
    [null, made({})],
    ['RUNNING', made({}, [0, claim()])],
    ['RUNNING', prepared],
    ['SUCCESS', made({}, [0, claim()], [1, succeed()])],
    ['ERROR', made({}, [0, claim()], [1, fail(broken, false)])],
    ['CANCELLED', made({}, [0, claim()], [1, stop()])],
  ])('otherwise the process is %s', (status, { job }) => expect(processStatus(job)).toBe(status));
});
