// Progress: what seed 4 says of the tree, what the originals' tests say of failure policies, and S30 on anything.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemsInAllMax, itemsKeptMax, processesKeptMax } from '../../src/model/progress-tree.ts';
import { progressTextMax, stagesKeptMax } from '../../src/model/progress-tree.ts';
import {
  emptyProgress,
  isAborted,
  isCancelled,
  isSkipCurrentStage,
  isSuccessful,
  outline,
  track,
} from '../../src/model/progress.ts';
import type {
  FailurePolicy,
  ItemNode,
  ProcessNode,
  Progress,
  ProgressStep,
  StageNode,
} from '../../src/model/progress.ts';
import { sampleSize } from '../support/size.ts';

/** Takes the steps one after the other, a second apart. */
const after = (steps: readonly ProgressStep[], from: Progress = emptyProgress): Progress =>
  steps.reduce((progress, step) => track(progress, step, (progress.updatedAt ?? 0) + 1_000), from);

const processOf = (progress: Progress): ProcessNode => progress.processes.at(-1)!;
const stageOf = (progress: Progress): StageNode => processOf(progress).stages.at(-1)!;
const itemOf = (progress: Progress): ItemNode => stageOf(progress).items.at(-1)!;
const statuses = (progress: Progress): string[] => [
  processOf(progress).status,
  stageOf(progress).status,
  ...stageOf(progress).items.map(({ status }) => status),
];
const counts = (progress: Progress): number[] => {
  const { done, failed, skipped } = stageOf(progress);
  return [done, failed, skipped];
};

const startProcess: ProgressStep = { kind: 'startProcess', description: 'all of it' };
const completeProcess: ProgressStep = { kind: 'completeProcess', summary: 'well' };
const startStage: ProgressStep = { kind: 'startStage', description: 'a part' };
const completeStage: ProgressStep = { kind: 'completeStage', summary: 'fine' };
const startItem: ProgressStep = { kind: 'startItem' };
const completeItem: ProgressStep = { kind: 'completeItem' };
const failItem: ProgressStep = { kind: 'failItem', error: 'bad item' };
const failStage: ProgressStep = { kind: 'failStage', error: 'bad stage' };
const failProcess: ProgressStep = { kind: 'failProcess', error: 'bad process' };
const cancel: ProgressStep = { kind: 'cancel', reason: 'no need any more' };
const end: ProgressStep = { kind: 'end' };
const policed = (policy: FailurePolicy, total?: number): ProgressStep => ({ kind: 'startStage', policy, total });

describe('the tree', () => {
  test('it has processes, stages and items, each with its words and times', () => {
    const progress = after([startProcess, startStage, { kind: 'startItem', description: 'one' }, completeItem]);
    expect(progress.processes).toEqual([
      {
        status: 'RUNNING',
        description: 'all of it',
        summary: null,
        error: null,
        startedAt: 1_000,
        completedAt: null,
        cancelledAt: null,
        stagesDropped: 0,
        stages: [
          {
            status: 'RUNNING',
            description: 'a part',
            summary: null,
            error: null,
            startedAt: 2_000,
            completedAt: null,
            total: null,
            policy: 'FAIL',
            done: 1,
            failed: 0,
            skipped: 0,
            started: 1,
            items: [
              {
                status: 'SUCCESS',
                description: 'one',
                summary: null,
                error: null,
                startedAt: 3_000,
                completedAt: 4_000,
                item: null,
                policy: 'FAIL',
              },
            ],
          },
        ],
      },
    ]);
  });

  test('it is empty at first, and grows as the work is discovered', () => {
    expect(emptyProgress.processes).toEqual([]);
    const progress = after([startStage, startStage, startProcess, startStage]);
    expect(progress.processes.map(({ stages }) => stages.length)).toEqual([2, 1]);
  });

  test('a node is RUNNING when it is started, and SUCCESS when it is completed', () => {
    const running = after([startProcess, startStage, startItem]);
    expect(statuses(running)).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
    const completed = after([{ kind: 'completeItem', summary: 'ok' }, completeStage, completeProcess], running);
    expect(statuses(completed)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    expect([itemOf(completed).summary, stageOf(completed).summary, processOf(completed).summary]).toEqual([
      'ok',
      'fine',
      'well',
    ]);
  });

  test('an item that fails is ERROR, and by default it fails the process', () => {
    const progress = after([startProcess, startStage, startItem, failItem]);
    expect(statuses(progress)).toEqual(['ERROR', 'RUNNING', 'ERROR']);
    expect([itemOf(progress).error, processOf(progress).error]).toEqual(['bad item', 'bad item']);
  });

  test('the simple sequence of calls that seed 4 shows gives the tree it describes', () => {
    const progress = after([
      startProcess,
      startStage,
      startItem,
      completeItem,
      startItem,
      completeItem,
      completeStage,
      startStage,
      startItem,
      failItem,
      failStage,
      failProcess,
    ]);
    expect(progress.processes).toHaveLength(1);
    expect(processOf(progress).stages.map((stage) => [stage.status, stage.items.map((item) => item.status)])).toEqual([
      ['SUCCESS', ['SUCCESS', 'SUCCESS']],
      ['ERROR', ['ERROR']],
    ]);
    expect(processOf(progress)).toMatchObject({ status: 'ERROR', error: 'bad item', completedAt: 11_000 });
  });

  test('processes and stages follow each other: the next one ends what the last one left open', () => {
    const progress = after([startProcess, startStage, startItem, startStage, startProcess]);
    const [first, second] = progress.processes;
    expect(first).toMatchObject({ status: 'SUCCESS', summary: '(process completed implicitly)' });
    expect(first!.stages[0]).toMatchObject({ status: 'SUCCESS', summary: '(stage completed implicitly)', done: 1 });
    expect(first!.stages[0]!.items[0]).toMatchObject({ status: 'SUCCESS', summary: '(item completed implicitly)' });
    expect(second).toMatchObject({ status: 'RUNNING', stages: [] });
  });

  test('items with ids run side by side and end in any order', () => {
    const progress = after([
      startStage,
      { kind: 'startItem', item: 'a' },
      { kind: 'startItem', item: 2, policy: 'SKIP_ITEM' },
      { kind: 'startItem', item: 'c' },
      { kind: 'completeItem', item: 'a', summary: 'first' },
      { kind: 'failItem', item: 2, error: 'second' },
    ]);
    expect(stageOf(progress).items.map(({ item, status }) => [item, status])).toEqual([
      ['a', 'SUCCESS'],
      [2, 'ERROR'],
      ['c', 'RUNNING'],
    ]);
    expect(isCancelled(progress)).toBe(false);
  });

  test('an item that is under way is not started twice, and one that ended may be started again', () => {
    const start: ProgressStep = { kind: 'startItem', item: 'a' };
    expect(stageOf(after([startStage, start, start])).items).toHaveLength(1);
    expect(stageOf(after([startStage, start, completeItem, start])).items).toHaveLength(2);
  });

  test('items without ids follow each other: the next one ends the last one', () => {
    const progress = after([startStage, startItem, startItem]);
    expect(stageOf(progress).items.map(({ status }) => status)).toEqual(['SUCCESS', 'RUNNING']);
    expect(stageOf(progress).done).toBe(1);
  });

  test('an item without a description is called by its number', () => {
    const progress = after([startStage, startItem, completeItem, startItem, completeItem]);
    expect(stageOf(progress).items.map(({ description }) => description)).toEqual(['#1', '#2']);
  });

  test('a step is pure: the progress it started from stays as it was', () => {
    const before = after([startProcess, startStage, startItem]);
    const copy = structuredClone(before);
    after([completeItem, cancel, end], before);
    expect(before).toEqual(copy);
  });

  test('time does not run backwards, whatever clock a step came from', () => {
    const started = track(emptyProgress, startProcess, 5_000);
    const ended = track(started, completeProcess, 1_000);
    expect(processOf(ended)).toMatchObject({ startedAt: 5_000, completedAt: 5_000 });
  });
});

describe('the total of a stage', () => {
  test('it gives the percentage that is done', () => {
    const progress = after([{ kind: 'startStage', total: 3 }, startItem, completeItem, startItem]);
    expect(outline(progress)).toMatchObject({ percent: 33, stage: { total: 3, settled: 1, running: 1 } });
  });

  test.each([undefined, null, -1, 0.5, NaN, Infinity])('a total of %s is unknown', (total) => {
    expect(stageOf(after([{ kind: 'startStage', total }])).total).toBeNull();
  });

  test('a total is raised when more items come than were announced', () => {
    const progress = after([
      { kind: 'startStage', total: 1, policy: 'SKIP_ITEM' },
      startItem,
      completeItem,
      startItem,
      failItem,
      { kind: 'skipItem', count: 5 },
    ]);
    expect(stageOf(progress)).toMatchObject({ total: 7, done: 1, failed: 1, skipped: 5 });
  });
});

describe('items that are skipped', () => {
  test('many can be counted at once without having been started', () => {
    const progress = after([startStage, { kind: 'skipItem', count: 40 }, { kind: 'skipItem' }]);
    expect(stageOf(progress)).toMatchObject({ skipped: 41, items: [] });
  });

  test('one that is under way is given up, and nothing fails', () => {
    const started = after([startStage, { kind: 'startItem', item: 'a' }]);
    const progress = after([{ kind: 'skipItem', item: 'a', summary: 'old' }], started);
    expect(itemOf(progress)).toMatchObject({ status: 'CANCELLED', summary: 'old' });
    expect(counts(progress)).toEqual([0, 0, 1]);
    expect(isSkipCurrentStage(progress)).toBe(false);
  });
});

describe('starts that are missing', () => {
  test('a stage without a process gets one', () => {
    expect(after([startStage]).processes).toMatchObject([{ description: null, status: 'RUNNING' }]);
  });

  test('an item without a stage gets one of unknown total', () => {
    expect(stageOf(after([startItem]))).toMatchObject({ description: null, total: null, status: 'RUNNING' });
  });

  test.each<[ProgressStep, string[]]>([
    [completeItem, ['RUNNING', 'RUNNING', 'SUCCESS']],
    [failItem, ['ERROR', 'RUNNING', 'ERROR']],
    [completeStage, ['RUNNING', 'SUCCESS']],
    [failStage, ['ERROR', 'ERROR']],
  ])('%j alone makes the nodes it needs', (step, expected) => {
    expect(statuses(after([step]))).toEqual(expected);
  });

  test('the end of a process makes the process', () => {
    expect(after([completeProcess]).processes).toMatchObject([{ status: 'SUCCESS', summary: 'well' }]);
    expect(after([failProcess]).processes).toMatchObject([{ status: 'ERROR', error: 'bad process' }]);
    expect(after([startProcess, completeProcess, completeStage]).processes).toHaveLength(2);
  });

  test('an item that ended with its stage creates no new stage when it reports its end', () => {
    const started = after([policed('SKIP_STAGE'), { kind: 'startItem', item: 'a' }, failStage]);
    expect(itemOf(started)).toMatchObject({ status: 'ERROR', error: 'bad stage' });
    const told = after([{ kind: 'completeItem', item: 'a' }, { kind: 'failItem', item: 'a', error: 'late' }], started);
    expect(told.processes).toEqual(started.processes);
  });
});

/** What the helper of the same name will do: items until one says that the stage is to be skipped, then its end. */
function runStage(progress: Progress, fails: readonly boolean[]): Progress {
  let now = progress;
  for (const isFailing of fails) {
    if (isSkipCurrentStage(now)) break;
    now = after([startItem, isFailing ? failItem : completeItem], now);
  }
  if (!isSkipCurrentStage(now)) return after([completeStage], now);
  return after([{ kind: 'failStage', error: 'skipped stage', cancelled: isCancelled(now) }], now);
}

describe('failure policies', () => {
  const canGoOn = (progress: Progress): boolean => {
    const next = after([startStage], progress);
    return !isCancelled(next) && !isSkipCurrentStage(next) && next !== progress;
  };

  test.each<[string, FailurePolicy, boolean[], number[], boolean, boolean]>([
    ['SKIP_ITEM without failures goes on', 'SKIP_ITEM', [false, false, false], [3, 0], false, true],
    ['SKIP_ITEM goes on even if all items fail', 'SKIP_ITEM', [true, true, true], [0, 3], false, true],
    ['SKIP_ITEM_OUTLIER without failures goes on', 'SKIP_ITEM_OUTLIER', [false, false, false], [3, 0], false, true],
    ['SKIP_ITEM_OUTLIER aborts if the first item fails', 'SKIP_ITEM_OUTLIER', [true, true, true], [0, 1], true, false],
    ['SKIP_ITEM_OUTLIER goes on if a later one fails', 'SKIP_ITEM_OUTLIER', [false, true, true], [1, 2], false, true],
    ['SKIP_STAGE without failures goes on', 'SKIP_STAGE', [false, false, false], [3, 0], false, true],
    ['SKIP_STAGE skips the rest of the stage only', 'SKIP_STAGE', [false, false, true, true, true], [2, 1], true, true],
    ['FAIL without failures goes on', 'FAIL', [false, false], [2, 0], false, true],
    ['FAIL aborts at the first failure', 'FAIL', [false, true, false], [1, 1], true, false],
    ['PARENT of a stage is FAIL', 'PARENT', [true, false], [0, 1], true, false],
  ])('%s', (_, policy, fails, [done, failed], isSkipped, goesOn) => {
    const progress = runStage(after([policed(policy, fails.length)]), fails);
    expect(stageOf(progress)).toMatchObject({ done, failed });
    expect(isSkipCurrentStage(progress)).toBe(isSkipped);
    expect(canGoOn(progress)).toBe(goesOn);
    expect(isAborted(progress)).toBe(!goesOn);
  });

  test('the policy of an item overrides that of its stage', () => {
    const one = after([policed('SKIP_STAGE', 5), { kind: 'startItem', policy: 'SKIP_ITEM' }, failItem]);
    expect(isSkipCurrentStage(one)).toBe(false);
    const three = after([startItem, completeItem, { kind: 'startItem', policy: 'SKIP_ITEM_OUTLIER' }, failItem], one);
    expect(isSkipCurrentStage(three)).toBe(false);
    const four = after([{ kind: 'startItem', policy: 'PARENT' }, failItem], three);
    expect([isSkipCurrentStage(four), isCancelled(four)]).toEqual([true, false]);
    const five = after([{ kind: 'startItem', policy: 'FAIL' }, failItem], four);
    expect([isSkipCurrentStage(five), isCancelled(five)]).toEqual([true, true]);
  });

  test('the effective policy is shown, not PARENT', () => {
    const progress = after([policed('SKIP_ITEM'), { kind: 'startItem', policy: 'PARENT' }]);
    expect([stageOf(progress).policy, itemOf(progress).policy]).toEqual(['SKIP_ITEM', 'SKIP_ITEM']);
    expect(stageOf(after([policed('PARENT')])).policy).toBe('FAIL');
  });

  test.each<[FailurePolicy, boolean]>([
    ['PARENT', true],
    ['FAIL', true],
    ['SKIP_ITEM', true],
    ['SKIP_ITEM_OUTLIER', true],
    ['SKIP_STAGE', false],
  ])('a stage of policy %s that fails itself: it aborts %s', (policy, aborts) => {
    const progress = after([startProcess, policed(policy), startItem, completeItem, failStage]);
    expect(stageOf(progress).status).toBe('ERROR');
    expect([isAborted(progress), isCancelled(progress)]).toEqual([aborts, aborts]);
    expect(processOf(progress).status).toBe(aborts ? 'ERROR' : 'RUNNING');
  });

  test('a process with a skipped stage can still succeed', () => {
    const skipped = after([startProcess, policed('SKIP_STAGE'), failStage]);
    const progress = after([startStage, completeStage, completeProcess], skipped);
    expect(processOf(progress).status).toBe('SUCCESS');
    expect(isSuccessful(progress)).toBe(true);
  });

  test('a skipped stage is over with the next one', () => {
    const skipped = after([policed('SKIP_STAGE'), startItem, failItem]);
    expect(isSkipCurrentStage(skipped)).toBe(true);
    expect(isSkipCurrentStage(after([startStage], skipped))).toBe(false);
  });

  test('a process that fails itself aborts, and takes its stage and items along', () => {
    const progress = after([startProcess, startStage, startItem, failProcess]);
    expect(statuses(progress)).toEqual(['ERROR', 'ERROR', 'ERROR']);
    expect([isAborted(progress), progress.cause]).toEqual([true, 'bad process']);
  });

  test('after an abort items under way end as usual, and the process reaches as far as they do', () => {
    const progress = after([
      startProcess,
      startStage,
      { kind: 'startItem', item: 'a' },
      { kind: 'startItem', item: 'b' },
      { kind: 'failItem', item: 'a', error: 'bad' },
      { kind: 'completeItem', item: 'b' },
      failStage,
    ]);
    expect(statuses(progress)).toEqual(['ERROR', 'ERROR', 'ERROR', 'SUCCESS']);
    expect([processOf(progress).completedAt, stageOf(progress).completedAt]).toEqual([7_000, 7_000]);
    expect(processOf(progress).error).toBe('bad');
  });

  test('after an abort nothing new begins', () => {
    const aborted = after([startProcess, startStage, startItem, failItem, failStage, failProcess]);
    const more = [startStage, startItem, completeItem, completeStage, startProcess, completeProcess];
    expect(after(more, aborted)).toBe(aborted);
  });

  test('a cancellation that only follows from an abort or a skip is an error, not a cancel', () => {
    const echo = { error: 'stopped', cancelled: true };
    const aborted = after([startProcess, startStage, startItem, failItem, { kind: 'failStage', ...echo }]);
    expect(stageOf(aborted)).toMatchObject({ status: 'ERROR', error: 'processing aborted: stopped' });
    const skipped = after([policed('SKIP_STAGE'), startItem, failItem, { kind: 'failStage', ...echo }]);
    expect(stageOf(skipped)).toMatchObject({ status: 'ERROR', error: 'processing aborted: stopped' });
  });
});

describe('a cancel by a user', () => {
  test('the process is CANCELLED at once', () => {
    const progress = after([startProcess, startStage, startItem, cancel]);
    expect(processOf(progress)).toMatchObject({ status: 'CANCELLED', cancelledAt: 4_000, completedAt: null });
    expect(statuses(progress)).toEqual(['CANCELLED', 'RUNNING', 'RUNNING']);
    expect([isCancelled(progress), isAborted(progress), isSkipCurrentStage(progress)]).toEqual([true, false, true]);
    expect(progress.cause).toBe('no need any more');
  });

  test('the running item is completed as usual, and the stage may then end as CANCELLED', () => {
    const running = after([startProcess, startStage, startItem, cancel]);
    const progress = after([completeItem, { kind: 'failStage', error: 'cancelled', cancelled: true }], running);
    expect(statuses(progress)).toEqual(['CANCELLED', 'CANCELLED', 'SUCCESS']);
  });

  test('a process that was cancelled keeps that status, however it ends', () => {
    for (const last of [completeProcess, failProcess, end, { ...end, error: 'boom' }] as ProgressStep[]) {
      const progress = after([startProcess, cancel, last]);
      expect(processOf(progress)).toMatchObject({ status: 'CANCELLED', cancelledAt: 2_000, completedAt: 3_000 });
      expect([isSuccessful(progress), isAborted(progress)]).toEqual([false, false]);
    }
  });

  test('no stage and no process begins any more', () => {
    const cancelled = after([startProcess, startStage, completeStage, cancel]);
    expect(after([startStage, startProcess, startItem, completeItem], cancelled)).toBe(cancelled);
  });

  test('a failure after a cancel is recorded, but is no abort', () => {
    const progress = after([startProcess, startStage, startItem, cancel, failItem, failStage]);
    expect(statuses(progress)).toEqual(['CANCELLED', 'ERROR', 'ERROR']);
    expect(isAborted(progress)).toBe(false);
  });

  test('a cancel after an abort changes nothing, nor does a second cancel', () => {
    const aborted = after([startProcess, failProcess]);
    expect(after([cancel], aborted)).toBe(aborted);
    const cancelled = after([startProcess, cancel]);
    expect(after([cancel], cancelled)).toBe(cancelled);
  });

  test('a process that had ended before keeps the status it ended with', () => {
    const progress = after([startProcess, completeProcess, startProcess, cancel]);
    expect(progress.processes.map(({ status }) => status)).toEqual(['SUCCESS', 'CANCELLED']);
    expect(processOf(after([startProcess, completeProcess, cancel])).status).toBe('SUCCESS');
  });

  test('it is recorded even before anything was tracked', () => {
    const progress = after([cancel, startProcess]);
    expect([progress.processes, isCancelled(progress), isSuccessful(progress)]).toEqual([[], true, false]);
  });
});

describe('the end', () => {
  test('what was left open is completed implicitly', () => {
    const progress = after([startProcess, startStage, startItem, end]);
    expect(statuses(progress)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    expect(processOf(progress).summary).toBe('(process completed implicitly)');
    expect(isSuccessful(progress)).toBe(true);
  });

  test('an open process counts as a success until a failure', () => {
    expect(isSuccessful(emptyProgress)).toBe(true);
    expect(isSuccessful(after([startProcess]))).toBe(true);
    expect(isSuccessful(after([startProcess, failProcess]))).toBe(false);
  });

  test('an error fails what was left open', () => {
    const progress = after([startProcess, startStage, startItem, { kind: 'end', error: 'boom' }]);
    expect(statuses(progress)).toEqual(['ERROR', 'ERROR', 'ERROR']);
    expect([processOf(progress).error, itemOf(progress).error]).toEqual(['boom', 'boom']);
    expect(isSuccessful(progress)).toBe(false);
  });

  test('after an abort the stage and items it left running end as errors', () => {
    const progress = after([startStage, { kind: 'startItem', item: 'a' }, startItem, failItem, end]);
    expect(statuses(progress)).toEqual(['ERROR', 'ERROR', 'ERROR', 'ERROR']);
  });

  test('after a cancel they end as cancelled', () => {
    expect(statuses(after([startStage, startItem, cancel, end]))).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  test('work that tracked nothing stays without a tree', () => {
    expect(after([end])).toBe(emptyProgress);
    expect(after([{ kind: 'end', error: 'boom' }])).toBe(emptyProgress);
  });
});

describe('the outline', () => {
  test('it is empty at first', () => {
    expect(outline(emptyProgress)).toEqual({
      status: null,
      process: null,
      stage: null,
      stages: 0,
      percent: null,
      working: [],
    });
  });

  test('it has what a rate and the time still needed are computed from', () => {
    const progress = after([startProcess, { kind: 'startStage', total: 4 }, startItem, completeItem, startItem]);
    expect(outline(progress)).toEqual({
      status: 'RUNNING',
      process: 'all of it',
      stages: 1,
      percent: 25,
      working: ['#2'],
      stage: {
        description: null,
        status: 'RUNNING',
        total: 4,
        settled: 1,
        done: 1,
        failed: 0,
        skipped: 0,
        running: 1,
        startedAt: 2_000,
        until: 5_000,
      },
    });
  });

  test('100 percent means that every item has ended or the process has succeeded', () => {
    const almost = after([{ kind: 'startStage', total: 1_000 }, { kind: 'skipItem', count: 999 }]);
    expect(outline(almost).percent).toBe(99);
    expect(outline(after([{ kind: 'skipItem' }], almost)).percent).toBe(100);
    expect(outline(after([startProcess, completeProcess])).percent).toBe(100);
    expect(outline(after([startProcess, startStage])).percent).toBeNull();
  });

  test('items that a cancel has skipped do not count as done', () => {
    const cancelled = after([
      { kind: 'startStage', total: 30 }, { kind: 'startItem' }, { kind: 'completeItem' }, { kind: 'cancel' }, { kind: 'skipItem', count: 29 },
    ]);
    expect(outline(cancelled)).toMatchObject({ percent: 3, stage: { settled: 30, done: 1, skipped: 29 } });
    expect(outline(after([{ kind: 'end', error: 'cancelled', cancelled: true }], cancelled)).percent).toBe(3);
  });
});

describe('how large it gets', () => {
  test('a stage of 20,000 items stays small, its counts stay exact, and failures outlive successes', () => {
    let progress = after([{ kind: 'startStage', total: 20_000, policy: 'SKIP_ITEM' }]);
    for (let n = 1; n <= 20_000; n++) progress = after([startItem, n % 200 === 0 ? failItem : completeItem], progress);
    const { items, started, done, failed } = stageOf(progress);
    expect([items.length, started, done, failed]).toEqual([itemsKeptMax, 20_000, 19_900, 100]);
    expect(items.slice(0, 100).map(({ description }) => description)).toEqual(
      Array.from({ length: 100 }, (_, at) => `#${at + 1}`),
    );
    expect(items.filter(({ status }) => status === 'ERROR')).toHaveLength(100);
    expect(items.at(-2)!.description).toBe('#19999');
  });

  test('items under way outlive those that ended', () => {
    let progress = after([policed('SKIP_ITEM'), { kind: 'startItem', item: 'slow' }]);
    for (let n = 1; n <= 1_000; n++) {
      progress = after([{ kind: 'startItem', item: n }, { kind: 'completeItem', item: n }], progress);
    }
    const ended = after([{ kind: 'completeItem', item: 'slow' }], progress);
    expect(stageOf(ended)).toMatchObject({ started: 1_001, done: 1_001 });
  });

  test('items under way outlive even those that failed', () => {
    let progress = after([policed('SKIP_ITEM')]);
    for (let n = 1; n <= 1_000; n++) {
      const item = n === 150 ? 'slow' : n;
      const steps: ProgressStep[] = [{ kind: 'startItem', item }, { kind: 'failItem', item: n, error: 'bad' }];
      progress = after(n === 150 ? steps.slice(0, 1) : steps, progress);
    }
    expect(outline(progress).working).toEqual(['#150']);
  });

  describe('items that run when their nodes are dropped', () => {
    const ids = Array.from({ length: 1_000 }, (_, at) => at);
    const start = (item: number | string): ProgressStep => ({ kind: 'startItem', item });
    const complete = (item: number | string): ProgressStep => ({ kind: 'completeItem', item });
    const fail = (item: number | string): ProgressStep => ({ kind: 'failItem', item, error: 'bad' });
    const started = after([policed('SKIP_ITEM', 1_000), ...ids.map(start)]);

    test('are counted as running, and once more when they end', () => {
      expect(outline(started).stage).toMatchObject({ running: 1_000, settled: 0 });
      const ended = after(ids.map((item) => (item % 10 === 0 ? fail(item) : complete(item))), started);
      expect(stageOf(ended)).toMatchObject({ started: 1_000, done: 900, failed: 100, skipped: 0 });
      expect(outline(ended)).toMatchObject({ percent: 100, stage: { running: 0, settled: 1_000 } });
      expect(stageOf(ended).items).toHaveLength(itemsKeptMax);
      expect(stageOf(ended).items.map(({ description }) => description)).not.toContain('#1001');
    });

    test('can be skipped one by one', () => {
      const skipped = after(ids.map((item): ProgressStep => ({ kind: 'skipItem', item })), started);
      expect(stageOf(after([completeStage], skipped))).toMatchObject({ started: 1_000, done: 0, skipped: 1_000 });
    });

    test('end with their stage, and a later end of them creates no stage', () => {
      const ended = after([completeStage], started);
      expect(stageOf(ended)).toMatchObject({ started: 1_000, done: 1_000, total: 1_000 });
      expect(after(ids.map(complete), ended).processes).toEqual(ended.processes);
      expect(outline(ended).stage).toMatchObject({ running: 0 });
    });

    test('are told from items that never started', () => {
      const ended = after([...Array.from({ length: 50 }, (_, at) => complete(`new ${at}`)), ...ids.map(complete)], started);
      expect(stageOf(ended)).toMatchObject({ started: 1_050, done: 1_050 });
      expect(outline(ended).stage).toMatchObject({ running: 0 });
    });

    test('show their errors', () => {
      const done = after(ids.slice(-100).map(complete), started);
      const failed = stageOf(after([fail(500)], done)).items.find(({ item }) => item === 500);
      expect(failed).toMatchObject({ status: 'ERROR', error: 'bad', description: null });
    });

    test('fail by the policy with which they started', () => {
      const tolerant = ids.map((item): ProgressStep => ({ kind: 'startItem', item, policy: 'SKIP_ITEM' }));
      const failed = after(ids.map(fail), after([policed('FAIL'), ...tolerant]));
      expect(stageOf(failed)).toMatchObject({ started: 1_000, failed: 1_000 });
      expect(isCancelled(failed)).toBe(false);
    });

    test('do not include the one without an id, which the next one ends', () => {
      const progress = after([startStage, startItem, ...ids.slice(0, 150).map(start), startItem, ...ids.slice(150).map(start)]);
      expect(stageOf(after([startItem], progress))).toMatchObject({ started: 1_003, done: 2 });
    });
  });

  test('older stages lose their items, then are dropped themselves, and their number is recorded', () => {
    const stage = [startStage, ...Array.from({ length: 200 }, () => [startItem, completeItem]).flat()];
    const progress = after(Array.from({ length: 105 }, () => stage).flat());
    const { stages, stagesDropped } = processOf(progress);
    expect([stages.length, stagesDropped]).toEqual([stagesKeptMax, 5]);
    expect(stages.every(({ done }) => done === 200)).toBe(true);
    const older = stages.slice(0, -1).flatMap(({ items }) => items);
    expect(older).toHaveLength(itemsInAllMax);
    expect(outline(progress).stages).toBe(105);
  });

  test('older processes are dropped, and their number is recorded', () => {
    const progress = after(Array.from({ length: 25 }, () => startProcess));
    expect([progress.processes.length, progress.processesDropped]).toEqual([processesKeptMax, 15]);
  });

  test('a long text is cut, and shows it', () => {
    const long = 'x'.repeat(progressTextMax - 2) + '😀'.repeat(500);
    const { description } = processOf(after([{ kind: 'startProcess', description: long }]));
    expect(description).toHaveLength(progressTextMax);
    expect(description).toMatch(/…$/);
    expect(description!.isWellFormed()).toBe(true);
  });
});

describe('whatever is told', () => {
  const text = fc.option(fc.constantFrom('a', 'b'), { nil: undefined });
  const item = fc.option(fc.constantFrom<string | number>('x', 'y', 1), { nil: undefined });
  const policy = fc.constantFrom<FailurePolicy>('PARENT', 'FAIL', 'SKIP_STAGE', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER');
  const forgiving = fc.constantFrom<FailurePolicy>('SKIP_STAGE', 'SKIP_ITEM', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER');
  const total = fc.option(fc.integer({ min: -1, max: 4 }), { nil: undefined });
  const cancelled = fc.boolean();
  const error = fc.constant('bad');

  const step = fc.oneof(
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('startProcess' as const), description: text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('completeProcess' as const), summary: text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('failProcess' as const), error, cancelled }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('startStage' as const), total, policy: forgiving }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('completeStage' as const), summary: text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('failStage' as const), error, cancelled }) },
    { weight: 9, arbitrary: fc.record({ kind: fc.constant('startItem' as const), item, policy: forgiving }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('startItem' as const), item, policy }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('completeItem' as const), item, summary: text }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('failItem' as const), item, error, cancelled }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('skipItem' as const), item, count: total }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), reason: text }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), error: text, cancelled }) },
  ) satisfies fc.Arbitrary<ProgressStep>;
  const timedSteps = fc.array(fc.tuple(step, fc.integer({ min: -5, max: 50 })), { maxLength: 60, size: 'max' });

  interface Span {
    startedAt: number;
    completedAt: number | null;
  }

  /** What is open reaches to the end of time. */
  const endOf = ({ completedAt }: Span): number => completedAt ?? Infinity;

  const isWithin = (inner: Span, outer: Span): boolean =>
    inner.startedAt >= outer.startedAt &&
    inner.startedAt <= endOf(outer) &&
    (inner.completedAt === null || inner.completedAt <= endOf(outer));

  const isSequence = (spans: readonly Span[]): boolean =>
    spans.slice(1).every((next, at) => endOf(spans[at]!) <= next.startedAt);

  const isEndedRight = ({ status, completedAt }: { status: string } & Span): boolean =>
    (status === 'RUNNING') === (completedAt === null);

  function flawsOfStage(stage: StageNode): string[] {
    const inStatus = (status: string): number => stage.items.filter((item) => item.status === status).length;
    const settled = stage.done + stage.failed + stage.skipped;
    const truths = {
      'the stage is open although it has a status, or the other way round': isEndedRight(stage),
      'more items are settled than there are': stage.total === null || settled <= stage.total,
      'the counts are not those of the items':
        inStatus('SUCCESS') === stage.done &&
        inStatus('ERROR') === stage.failed &&
        inStatus('CANCELLED') <= stage.skipped &&
        stage.items.length === stage.started,
      'an item reaches beyond its stage': stage.items.every((item) => isWithin(item, stage)),
      'an item is open although it has a status, or the other way round': stage.items.every(isEndedRight),
    };
    return untrue(truths);
  }

  function flawsOf(progress: Progress): string[] {
    const stages = progress.processes.flatMap((process) => process.stages);
    const truths = {
      'processes overlap': isSequence(progress.processes),
      'stages overlap': progress.processes.every((process) => isSequence(process.stages)),
      'a stage reaches beyond its process': progress.processes.every((process) =>
        process.stages.every((stage) => isWithin(stage, process)),
      ),
      'an ended process is RUNNING': progress.processes.every((p) => p.status !== 'RUNNING' || p.completedAt === null),
    };
    return [...untrue(truths), ...stages.flatMap(flawsOfStage)];
  }

  const untrue = (truths: Record<string, boolean>): string[] => Object.keys(truths).filter((truth) => !truths[truth]);

  const eachStep = (steps: [ProgressStep, number][], look: (now: Progress, before: Progress) => void): Progress => {
    let progress = emptyProgress;
    let at = 1_000;
    for (const [step, pause] of steps) {
      at += pause;
      const next = track(progress, step, at);
      look(next, progress);
      progress = next;
    }
    return progress;
  };

  test('S30: stages lie within processes and items within stages, and counts within totals', () => {
    fc.assert(
      fc.property(timedSteps, (steps) => {
        eachStep(steps, (now) => expect(flawsOf(now)).toEqual([]));
      }),
      { numRuns: sampleSize(1_000) },
    );
  });

  test('what has ended keeps its status, and a cancel stays what it first was', () => {
    const endedIn = (progress: Progress): Map<string, string> => {
      const stages = progress.processes.flatMap((process, p) => process.stages.map((stage, s) => ({ stage, p, s })));
      const ended = stages.filter(({ stage }) => stage.completedAt !== null);
      return new Map(ended.map(({ stage, p, s }) => [`${p}/${s}`, stage.status]));
    };
    fc.assert(
      fc.property(timedSteps, (steps) => {
        eachStep(steps, (now, before) => {
          if (before.processesDropped === now.processesDropped) {
            expect([...endedIn(now)].filter(([place]) => endedIn(before).has(place))).toEqual([...endedIn(before)]);
          }
          if (isCancelled(before)) {
            expect([now.cancelledAt, now.aborted]).toEqual([before.cancelledAt, before.aborted]);
          }
        });
      }),
      { numRuns: sampleSize(500) },
    );
  });

  test('after the end nothing is open', () => {
    fc.assert(
      fc.property(timedSteps, (steps) => {
        const ended = eachStep([...steps, [end, 1]], () => {});
        const stages = ended.processes.flatMap((process) => process.stages);
        const nodes = [...ended.processes, ...stages, ...stages.flatMap((stage) => stage.items)];
        expect(nodes.filter(({ completedAt }) => completedAt === null)).toEqual([]);
      }),
      { numRuns: sampleSize(500) },
    );
  });

  test('it is plain JSON', () => {
    fc.assert(
      fc.property(timedSteps, (steps) => {
        const progress = eachStep(steps, () => {});
        expect(JSON.parse(JSON.stringify(progress))).toEqual(progress);
      }),
      { numRuns: 200 },
    );
  });

  test('the flags are those of a second, simpler telling of the policies', () => {
    const outcome = fc.record({ fails: fc.boolean(), policy });
    fc.assert(
      fc.property(policy, fc.array(outcome, { maxLength: 8 }), (stagePolicy, outcomes) => {
        const steps = outcomes.flatMap(({ fails, policy }): ProgressStep[] => [
          { kind: 'startItem', policy },
          fails ? failItem : completeItem,
        ]);
        const progress = after([policed(stagePolicy), ...steps]);
        const ofStage = stagePolicy === 'PARENT' ? 'FAIL' : stagePolicy;
        const failures = outcomes.flatMap(({ fails, policy }, at) => {
          const own = policy === 'PARENT' ? ofStage : policy;
          const isOutlier = outcomes.slice(0, at).some((earlier) => !earlier.fails);
          return fails ? [own === 'SKIP_ITEM_OUTLIER' ? (isOutlier ? 'SKIP_ITEM' : 'FAIL') : own] : [];
        });
        expect(isAborted(progress)).toBe(failures.includes('FAIL'));
        expect(isSkipCurrentStage(progress)).toBe(failures.some((policy) => policy !== 'SKIP_ITEM'));
        expect(isSuccessful(progress)).toBe(!failures.includes('FAIL'));
      }),
      { numRuns: sampleSize(1_000) },
    );
  });
});
