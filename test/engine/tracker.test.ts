// The tracker: what seed 4 says of progress, what the originals' tests say of runStage, and what theirs got wrong.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { Cancelled } from '../../src/engine/handler/errors.ts';
import type { ProgressTracker, StageOutcome } from '../../src/engine/handler/context.ts';
import { Tracker } from '../../src/engine/progress/tracker.ts';
import type { FailurePolicy, ItemNode, ProcessNode, Progress, StageNode } from '../../src/model/progress.ts';
import { systemClock, turn, VirtualClock } from '../../src/time/clock.ts';

const start = 1_800_000_000_000;

function setUp() {
  const clock = new VirtualClock(start);
  const changes: Progress[] = [];
  const tracker = new Tracker({ clock, onChange: (progress) => changes.push(progress) });
  return { clock, changes, tracker };
}

const processOf = (tracker: Tracker): ProcessNode => tracker.progress.processes.at(-1)!;
const stagesOf = (tracker: Tracker): readonly StageNode[] => processOf(tracker).stages;
const stageOf = (tracker: Tracker): StageNode => stagesOf(tracker).at(-1)!;
const itemsOf = (tracker: Tracker): readonly ItemNode[] => stageOf(tracker).items;
const statuses = (tracker: Tracker): string[] => [
  processOf(tracker).status,
  stageOf(tracker).status,
  ...itemsOf(tracker).map(({ status }) => status),
];
const counts = (tracker: Tracker): number[] => {
  const { done, failed, skipped } = stageOf(tracker);
  return [done, failed, skipped];
};

const name = (item: unknown): string => `item ${String(item)}`;
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

/** Work that fails for the items given. */
const failingAt =
  (...bad: number[]) =>
  (item: number): void => {
    if (bad.includes(item)) throw new Error(`bad ${item}`);
  };

/** A function that ends on demand, and counts its running calls. */
class Bench {
  readonly begun: number[] = [];
  #open = new Map<number, PromiseWithResolvers<void>>();
  most = 0;

  readonly work = (item: number): Promise<void> => {
    this.begun.push(item);
    const gate = Promise.withResolvers<void>();
    this.#open.set(item, gate);
    this.most = Math.max(this.most, this.#open.size);
    return gate.promise;
  };

  get open(): number[] {
    return [...this.#open.keys()];
  }

  async finish(item: number): Promise<void> {
    this.#take(item).resolve();
    await turn();
  }

  async fail(item: number, error: Error = new Error(`bad ${item}`)): Promise<void> {
    this.#take(item).reject(error);
    await turn();
  }

  #take(item: number): PromiseWithResolvers<void> {
    const gate = this.#open.get(item)!;
    this.#open.delete(item);
    return gate;
  }
}

describe('the levels of progress', () => {
  test('tracking is optional: a handler that reports nothing has no progress', () => {
    const { tracker, changes } = setUp();
    tracker.end();
    expect(tracker.progress.processes).toEqual([]);
    expect(changes).toEqual([]);
  });

  test('a process is the bracket around stages, and a stage around items', () => {
    const { tracker } = setUp();
    tracker.startingProcess('import');
    tracker.startingStage('load');
    tracker.startingItem('file a');
    tracker.completedItem('12 rows');
    tracker.completedStage('loaded');
    tracker.completedProcess('all in');
    expect(processOf(tracker)).toMatchObject({ description: 'import', summary: 'all in', status: 'SUCCESS' });
    expect(stageOf(tracker)).toMatchObject({ description: 'load', summary: 'loaded', status: 'SUCCESS' });
    expect(itemsOf(tracker)).toMatchObject([{ description: 'file a', summary: '12 rows', status: 'SUCCESS' }]);
  });

  test('processes and stages are strictly sequential: the next one ends the one before', () => {
    const { tracker } = setUp();
    tracker.startingProcess('first');
    tracker.startingStage('a');
    tracker.startingStage('b');
    tracker.startingProcess('second');
    const [first, second] = tracker.progress.processes;
    expect(first).toMatchObject({ status: 'SUCCESS', summary: '(process completed implicitly)' });
    expect(first!.stages.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
    expect(second).toMatchObject({ status: 'RUNNING', stages: [] });
  });

  test('nodes appear as the handler reports them, and each change is published immediately', () => {
    const { tracker, changes } = setUp();
    tracker.startingProcess();
    expect(changes).toEqual([tracker.progress]);
    tracker.startingStage('a');
    tracker.startingItem();
    expect(changes).toHaveLength(3);
    expect(changes.map(({ processes }) => processes[0]!.stages.length)).toEqual([0, 1, 1]);
  });

  test('a stage can say how many items there will be', () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { total: 40 });
    tracker.startingItem();
    tracker.completedItem();
    expect(stageOf(tracker)).toMatchObject({ total: 40, done: 1, started: 1 });
  });

  test('a node is RUNNING when it is added, SUCCESS when completed, and an item that fails is ERROR', () => {
    const { tracker } = setUp();
    tracker.startingProcess();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    tracker.startingItem();
    expect(statuses(tracker)).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
    tracker.completedItem();
    tracker.startingItem();
    tracker.failedItem(new Error('no such row'));
    expect(statuses(tracker)).toEqual(['RUNNING', 'RUNNING', 'SUCCESS', 'ERROR']);
    expect(itemsOf(tracker)[1]!.error).toBe('no such row');
  });

  test('depending on the policy a failed item fails the stage and the process', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'FAIL' });
    await tracker.runStage([1, 2], name, failingAt(1));
    expect(statuses(tracker)).toEqual(['ERROR', 'ERROR', 'ERROR']);
  });

  test('times come from the clock, and a stage lies within its process', async () => {
    const { tracker, clock } = setUp();
    tracker.startingProcess();
    await clock.advance(1_000);
    tracker.startingStage('a');
    await clock.advance(500);
    tracker.completedStage();
    await clock.advance(100);
    tracker.completedProcess();
    expect(stageOf(tracker)).toMatchObject({ startedAt: start + 1_000, completedAt: start + 1_500 });
    expect(processOf(tracker)).toMatchObject({ startedAt: start, completedAt: start + 1_600 });
  });
});

describe('the calls', () => {
  test('the sequence of calls in seed 4 gives the tree it describes', () => {
    const { tracker } = setUp();
    tracker.startingProcess();
    tracker.startingStage('first');
    for (const item of ['a', 'b']) {
      tracker.startingItem(item);
      tracker.completedItem();
    }
    tracker.completedStage();
    tracker.startingStage('second');
    tracker.startingItem('c');
    tracker.failedItem('broken');
    tracker.failedStage('broken');
    tracker.failedProcess('broken');
    expect(stagesOf(tracker).map(({ status, items }) => [status, ...items.map((item) => item.status)])).toEqual([
      ['SUCCESS', 'SUCCESS', 'SUCCESS'],
      ['ERROR', 'ERROR'],
    ]);
    expect(processOf(tracker)).toMatchObject({ status: 'ERROR', error: 'broken' });
  });

  test('missing starts are repaired, never thrown', () => {
    const calls: ((tracker: Tracker) => void)[] = [
      (tracker) => tracker.completedItem('x'),
      (tracker) => tracker.failedItem('x'),
      (tracker) => tracker.completedStage('x'),
      (tracker) => tracker.failedStage('x'),
      (tracker) => tracker.completedProcess('x'),
      (tracker) => tracker.failedProcess('x'),
      (tracker) => tracker.startingItem('x'),
    ];
    for (const call of calls) {
      const { tracker } = setUp();
      call(tracker);
      expect(tracker.progress.processes).toHaveLength(1);
    }
  });

  test('completedItem and failedItem mean the newest open item', () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    tracker.startingItem('one');
    tracker.completedItem();
    tracker.startingItem('two');
    tracker.failedItem('no');
    expect(itemsOf(tracker).map(({ description, status }) => [description, status])).toEqual([
      ['one', 'SUCCESS'],
      ['two', 'ERROR'],
    ]);
  });

  test('the policy of an item overrides that of its stage', () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    tracker.startingItem('x', { onFailure: 'FAIL' });
    tracker.failedItem('no');
    expect([tracker.isAborted, tracker.isCancelled]).toEqual([true, true]);
    expect(itemsOf(tracker)[0]!.policy).toBe('FAIL');
  });

  test('a policy that does not exist counts as none', () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'WHATEVER' as FailurePolicy });
    tracker.failedItem('no');
    expect(stageOf(tracker).policy).toBe('FAIL');
    expect(tracker.isAborted).toBe(true);
  });

  test('texts and causes of any kind are taken, without escapes for a terminal', () => {
    const hostile = { toString: () => assertNever(), get message() { return assertNever(); } };
    const { tracker } = setUp();
    tracker.startingProcess(7 as unknown as string);
    tracker.startingStage('\u001b[31mred\u001b[0m \u0007bell', { onFailure: 'SKIP_ITEM' });
    for (const cause of [hostile, undefined, null, 5n, Symbol('s'), new Proxy(hostile, throwing), new TypeError()]) {
      tracker.failedItem(cause);
    }
    expect(processOf(tracker).description).toBe('7');
    expect(stageOf(tracker)).toMatchObject({ description: 'red ␇bell', failed: 7 });
    expect(itemsOf(tracker).map(({ error }) => typeof error)).toEqual(Array(7).fill('string'));
    expect(itemsOf(tracker).at(-1)!.error).toBe('TypeError');
  });
});

describe('runStage', () => {
  test('it fits into seed 4’s typical stage', async () => {
    const { tracker } = setUp();
    const progress: ProgressTracker = tracker;
    const items = ['a', 'b'];
    const processed: string[] = [];
    progress.startingStage('Now doing step X', { total: items.length });
    const outcome = await progress.runStage(items, (item) => item.toUpperCase(), (item) => processed.push(item));
    expectTypeOf(outcome).toEqualTypeOf<StageOutcome>();
    expect(outcome).toEqual({ succeeded: 2, failed: 0, isComplete: true });
    expect(processed).toEqual(['a', 'b']);
    expect(stageOf(tracker)).toMatchObject({ total: 2, done: 2, status: 'SUCCESS' });
    expect(itemsOf(tracker).map(({ description }) => description)).toEqual(['A', 'B']);
  });

  test('it works on all items in order, one at a time, with their index', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const seen: number[] = [];
    const running = tracker.runStage([1, 2, 3], name, (item, index) => {
      seen.push(index);
      return bench.work(item);
    });
    for (const item of [1, 2, 3]) {
      await turn();
      expect(bench.open).toEqual([item]);
      await bench.finish(item);
    }
    await running;
    expect(seen).toEqual([0, 1, 2]);
  });

  test('its summary counts successes and failures, in the given words if there are any', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    await tracker.runStage([1, 2, 3], name, failingAt(2));
    expect(stageOf(tracker).summary).toBe('2 successful and 1 failed items');
    tracker.startingStage('b', { onFailure: 'SKIP_ITEM' });
    await tracker.runStage([1, 2, 3], name, failingAt(2), (well, badly) => `${well} of ${well + badly}`);
    expect(stageOf(tracker).summary).toBe('2 of 3');
  });

  test('an item without a description is named by its number', async () => {
    const { tracker } = setUp();
    await tracker.runStage(['a', 'b'], () => null, () => undefined);
    expect(itemsOf(tracker).map(({ description }) => description)).toEqual(['#1', '#2']);
  });

  test('a description or summary that throws harms nothing', async () => {
    const { tracker } = setUp();
    const outcome = await tracker.runStage([1], assertNever, () => undefined, assertNever);
    expect(outcome).toEqual({ succeeded: 1, failed: 0, isComplete: true });
    expect(itemsOf(tracker)[0]!.description).toBe('#1');
    expect(stageOf(tracker).summary).toBe('1 successful and 0 failed items');
  });

  test('without a stage it makes one, which knows its total if the items have a size', async () => {
    const { tracker } = setUp();
    await tracker.runStage(new Set([1, 2]), name, () => undefined);
    await tracker.runStage(numbers(3).values(), name, () => undefined);
    expect(stagesOf(tracker).map(({ total, done }) => [total, done])).toEqual([
      [2, 2],
      [null, 3],
    ]);
  });

  test('a stage with no items at all ends as a success', async () => {
    const { tracker } = setUp();
    tracker.startingStage('nothing');
    expect(await tracker.runStage([], name, assertNever)).toEqual({ succeeded: 0, failed: 0, isComplete: true });
    expect(stageOf(tracker)).toMatchObject({ status: 'SUCCESS', summary: '0 successful and 0 failed items' });
  });

  test('cancelled before it starts, it does no work and does not touch the source', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    tracker.cancel();
    const source = { [Symbol.iterator]: () => ({ next: assertNever }) };
    expect(await tracker.runStage(source, name, assertNever)).toEqual({ succeeded: 0, failed: 0, isComplete: false });
    expect(stageOf(tracker).status).toBe('CANCELLED');
  });

  test('failures that abort nothing let all items be tried', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    expect(await tracker.runStage([1, 2, 3], name, failingAt(1, 2, 3))).toEqual({
      succeeded: 0,
      failed: 3,
      isComplete: true,
    });
    expect(stageOf(tracker).status).toBe('SUCCESS');
  });

  test('a failure that aborts stops after its item, and the rest counts as skipped', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { total: 5 });
    const outcome = await tracker.runStage(numbers(5), name, failingAt(2));
    expect(outcome).toEqual({ succeeded: 1, failed: 1, isComplete: false });
    expect(counts(tracker)).toEqual([1, 1, 3]);
    expect(stageOf(tracker)).toMatchObject({
      status: 'ERROR',
      error: 'skipped stage, failing item caused abort. 1 successful and 1 failed items',
    });
  });

  test('an item that the function reports itself is not counted twice', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const outcome = await tracker.runStage([1, 2, 3], name, (item) => {
      if (item === 1) tracker.completedItem('done well');
      if (item === 2) tracker.failedItem('told, not thrown');
    });
    expect(outcome).toEqual({ succeeded: 2, failed: 1, isComplete: true });
    const words = itemsOf(tracker).map(({ summary, error }) => summary ?? error);
    expect(words).toEqual(['done well', 'told, not thrown', null]);
    expect(stageOf(tracker)).toMatchObject({ started: 3, done: 2, failed: 1 });
  });

  test('an error of the function is never lost, whatever it reported before', async () => {
    const tellings: ((tracker: Tracker) => void)[] = [
      (tracker) => tracker.completedItem(),
      (tracker) => tracker.failedItem('told'),
      (tracker) => tracker.completedStage(),
      (tracker) => tracker.startingStage('another'),
    ];
    for (const tell of tellings) {
      const { tracker } = setUp();
      const outcome = await tracker.runStage([1, 2], name, () => {
        tell(tracker);
        throw new Error('thrown');
      });
      expect(outcome).toEqual({ succeeded: 0, failed: 1, isComplete: false });
      expect(tracker.isAborted).toBe(true);
    }
  });

  test('a failure that the function reports and throws counts once', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const outcome = await tracker.runStage([1, 2], name, () => {
      tracker.failedItem('told');
      throw new Error('thrown');
    });
    expect(outcome).toEqual({ succeeded: 0, failed: 2, isComplete: true });
    expect(counts(tracker)).toEqual([0, 2, 0]);
  });

  test('a stage that a work has failed itself is not failed again when it is skipped', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_STAGE' });
    const outcome = await tracker.runStage([1, 2], name, () => {
      tracker.failedItem('told');
      tracker.failedStage('told');
    });
    expect(outcome).toEqual({ succeeded: 0, failed: 1, isComplete: false });
    expect([stagesOf(tracker).length, tracker.isAborted]).toEqual([1, false]);
  });

  test('a stage that the function leaves open is not ended instead of its own', async () => {
    const { tracker } = setUp();
    tracker.startingStage('outer');
    await tracker.runStage([1], name, () => tracker.startingStage('inner'));
    expect(stagesOf(tracker).map(({ description, status }) => [description, status])).toEqual([
      ['outer', 'SUCCESS'],
      ['inner', 'RUNNING'],
    ]);
  });

  test('a stage that is begun inside another ends it, and late ends of its items change nothing', async () => {
    const { tracker } = setUp();
    tracker.startingStage('outer');
    await tracker.runStage([1], name, async () => {
      tracker.startingStage('inner');
      await tracker.runStage([1, 2], name, () => undefined);
    });
    expect(stagesOf(tracker).map(({ description, done, status }) => [description, done, status])).toEqual([
      ['outer', 1, 'SUCCESS'],
      ['inner', 2, 'SUCCESS'],
    ]);
  });

  test('items that never await do not delay a cancel', async () => {
    const tracker = new Tracker({ clock: systemClock, onChange: () => undefined });
    let count = 0;
    const endless = function* () {
      for (;;) yield 1;
    };
    const running = tracker.runStage(endless(), () => null, () => (count += 1));
    await turn();
    tracker.cancel();
    expect(await running).toEqual({ succeeded: count, failed: 0, isComplete: false });
  });
});

describe('runStage with a single work', () => {
  test('it gives what the work gives, and its stage succeeds', async () => {
    const { tracker } = setUp();
    tracker.startingStage('count');
    const result = await tracker.runStage(async () => 42);
    expectTypeOf(result).toEqualTypeOf<number | undefined>();
    expect(result).toBe(42);
    expect(stageOf(tracker).status).toBe('SUCCESS');
  });

  test('work that throws fails the stage and gives the value for that case', async () => {
    const { tracker } = setUp();
    tracker.startingStage('count', { onFailure: 'SKIP_STAGE' });
    expect(await tracker.runStage<number>(() => Promise.reject(new Error('no')), -1)).toBe(-1);
    expect(stageOf(tracker)).toMatchObject({ status: 'ERROR', error: 'no' });
    expect(tracker.isAborted).toBe(false);
    tracker.startingStage('again', { onFailure: 'SKIP_STAGE' });
    expect(await tracker.runStage(() => assertNever())).toBeUndefined();
  });

  test('its error is reported once if it reported it itself, and is never lost', async () => {
    const { tracker } = setUp();
    tracker.startingStage('told', { onFailure: 'SKIP_STAGE' });
    await tracker.runStage(() => {
      tracker.failedStage('told');
      throw new Error('thrown');
    });
    expect(stagesOf(tracker).map(({ error }) => error)).toEqual(['told']);
    await tracker.runStage(() => {
      tracker.completedStage();
      throw new Error('thrown');
    });
    expect([tracker.isAborted, stageOf(tracker).error]).toEqual([true, 'thrown']);
  });

  test('only SKIP_STAGE protects against a stage that fails', async () => {
    for (const onFailure of ['FAIL', 'SKIP_ITEM', 'SKIP_ITEM_OUTLIER'] as const) {
      const { tracker } = setUp();
      tracker.startingStage('a', { onFailure });
      await tracker.runStage(() => assertNever());
      expect(tracker.isAborted).toBe(true);
    }
  });

  test('cancelled before, it is not begun', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    tracker.cancel();
    expect(await tracker.runStage<string>(assertNever, 'nothing')).toBe('nothing');
    expect(statuses(tracker)).toEqual(['CANCELLED', 'CANCELLED']);
  });
});

describe('failure policies', () => {
  const run = async (onFailure: FailurePolicy, count: number, bad: number[]) => {
    const { tracker } = setUp();
    tracker.startingProcess();
    tracker.startingStage('a', { onFailure });
    const { succeeded, failed, isComplete } = await tracker.runStage(numbers(count), name, failingAt(...bad));
    return { tracker, result: [succeeded, failed, isComplete] };
  };
  const goesOn = async (tracker: Tracker): Promise<boolean> => {
    tracker.startingStage('next');
    return (await tracker.runStage([1], name, () => undefined)).isComplete;
  };

  test.each(['SKIP_ITEM', 'SKIP_ITEM_OUTLIER', 'SKIP_STAGE', 'FAIL', 'PARENT'] as const)(
    '%s changes nothing when nothing fails',
    async (policy) => {
      const { tracker, result } = await run(policy, 3, []);
      expect(result).toEqual([3, 0, true]);
      expect(await goesOn(tracker)).toBe(true);
    },
  );

  test('SKIP_ITEM continues when every item fails', async () => {
    const { tracker, result } = await run('SKIP_ITEM', 3, [1, 2, 3]);
    expect(result).toEqual([0, 3, true]);
    expect(await goesOn(tracker)).toBe(true);
    expect(processOf(tracker).status).toBe('RUNNING');
  });

  test('SKIP_ITEM_OUTLIER aborts when the first item fails', async () => {
    const { tracker, result } = await run('SKIP_ITEM_OUTLIER', 3, [1]);
    expect(result).toEqual([0, 1, false]);
    expect(tracker.isAborted).toBe(true);
  });

  test('SKIP_ITEM_OUTLIER continues when a later item fails', async () => {
    const { tracker, result } = await run('SKIP_ITEM_OUTLIER', 3, [2]);
    expect(result).toEqual([2, 1, true]);
    expect(await goesOn(tracker)).toBe(true);
  });

  test('SKIP_STAGE skips the rest of the stage, and the process continues with the next', async () => {
    const { tracker, result } = await run('SKIP_STAGE', 5, [3]);
    expect(result).toEqual([2, 1, false]);
    expect(stageOf(tracker)).toMatchObject({
      status: 'ERROR',
      error: 'skipped stage. 2 successful and 1 failed items',
      skipped: 2,
    });
    expect([tracker.isAborted, tracker.isSkipCurrentStage]).toEqual([false, true]);
    expect(await goesOn(tracker)).toBe(true);
    expect([tracker.isSkipCurrentStage, processOf(tracker).status]).toEqual([false, 'RUNNING']);
  });

  test('a skipped stage does not skip the next one, even if its start was not reported', async () => {
    const { tracker } = await run('SKIP_STAGE', 2, [1]);
    expect(await tracker.runStage([1, 2], name, () => undefined)).toMatchObject({ succeeded: 2, isComplete: true });
  });

  test.each(['FAIL', 'PARENT'] as const)('%s aborts: the process fails, no other stage starts', async (policy) => {
    const { tracker, result } = await run(policy, 3, [2]);
    expect(result).toEqual([1, 1, false]);
    expect([tracker.isAborted, tracker.isCancelled]).toEqual([true, true]);
    expect(processOf(tracker)).toMatchObject({ status: 'ERROR', error: 'bad 2' });
    expect(() => tracker.startingStage('next')).toThrow(Cancelled);
  });

  test('the error that aborted the work is kept, and is the cause of the error of the next stage', async () => {
    const { tracker } = setUp();
    const error = new Error('the very one');
    await tracker.runStage([1], name, () => Promise.reject(error));
    expect(tracker.failure).toBe(error);
    expect(() => tracker.startingStage('next')).toThrow(expect.objectContaining({ name: 'Cancelled', cause: error }));
  });

  test('giving up because of an abort is an error, not a cancel', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(2, [1, 2], name, bench.work);
    await turn();
    await bench.fail(1);
    await bench.fail(2, new Cancelled('gave up'));
    await running;
    expect(statuses(tracker)).toEqual(['ERROR', 'ERROR', 'ERROR', 'ERROR']);
    expect(itemsOf(tracker)[1]!.error).toBe('processing aborted: gave up');
  });
});

describe('cancel', () => {
  test('the process is CANCELLED at once, the running item ends as usual, then the stage is CANCELLED', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    tracker.startingProcess();
    tracker.startingStage('a');
    const running = tracker.runStage([1, 2, 3], name, bench.work);
    await turn();
    tracker.cancel('enough');
    expect(statuses(tracker)).toEqual(['CANCELLED', 'RUNNING', 'RUNNING']);
    await bench.finish(1);
    expect(await running).toEqual({ succeeded: 1, failed: 0, isComplete: false });
    expect(bench.begun).toEqual([1]);
    expect(statuses(tracker)).toEqual(['CANCELLED', 'CANCELLED', 'SUCCESS']);
    expect(stageOf(tracker).error).toBe('cancelled. 1 successful and 0 failed items');
    expect([tracker.isCancelled, tracker.isAborted, tracker.progress.cause]).toEqual([true, false, 'enough']);
  });

  test('the next stage does not start: it throws Cancelled', () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    tracker.cancel();
    expect(() => tracker.startingStage('b')).toThrow(Cancelled);
    expect(stagesOf(tracker)).toHaveLength(1);
  });

  test('a process that was cancelled stays so when it is completed', () => {
    const { tracker } = setUp();
    tracker.startingProcess();
    tracker.cancel();
    tracker.completedProcess('as far as it went');
    expect(processOf(tracker)).toMatchObject({ status: 'CANCELLED', summary: 'as far as it went' });
  });

  test.each([new Cancelled('gave up'), new DOMException('aborted', 'AbortError')])(
    'an item that ends with %s is CANCELLED and counts as skipped',
    async (error) => {
      const { tracker } = setUp();
      const bench = new Bench();
      const running = tracker.runStage([1, 2], name, bench.work);
      await turn();
      tracker.cancel();
      await bench.fail(1, error);
      expect(await running).toEqual({ succeeded: 0, failed: 0, isComplete: false });
      expect(statuses(tracker)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
      expect(counts(tracker)).toEqual([0, 0, 2]);
    },
  );

  test('an AbortError without a cancel is an error like any other', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const outcome = await tracker.runStage([1], name, () => Promise.reject(new DOMException('x', 'AbortError')));
    expect(outcome).toEqual({ succeeded: 0, failed: 1, isComplete: true });
  });

  test('in parallel, those under way end as usual and no other is begun', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(2, numbers(10), name, bench.work);
    await turn();
    tracker.cancel();
    await bench.finish(1);
    await bench.fail(2);
    expect(await running).toEqual({ succeeded: 1, failed: 1, isComplete: false });
    expect(bench.begun).toEqual([1, 2]);
    expect(counts(tracker)).toEqual([1, 1, 8]);
  });

  test('it does not wait for a source that keeps everyone waiting', async () => {
    const { tracker } = setUp();
    const stuck = async function* () {
      yield 1;
      await new Promise(() => undefined);
    };
    const running = tracker.runStage(stuck(), name, () => undefined);
    await turn();
    tracker.cancel();
    expect(await running).toEqual({ succeeded: 1, failed: 0, isComplete: false });
  });

  test('a stage of which an item gave up is not complete, though all were begun', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(3, [1, 2], name, bench.work);
    await turn();
    tracker.cancel();
    await bench.finish(1);
    await bench.fail(2, new Cancelled('gave up'));
    expect(await running).toEqual({ succeeded: 1, failed: 0, isComplete: false });
    expect(statuses(tracker)).toEqual(['CANCELLED', 'CANCELLED', 'SUCCESS', 'CANCELLED']);
  });

  test('a stage whose items are all done before it could stop them is complete', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(3, [1, 2], name, bench.work);
    await turn();
    tracker.cancel();
    await bench.finish(1);
    await bench.finish(2);
    expect(await running).toEqual({ succeeded: 2, failed: 0, isComplete: true });
    expect(statuses(tracker)).toEqual(['CANCELLED', 'SUCCESS', 'SUCCESS', 'SUCCESS']);
  });
});

describe('runStageInParallel', () => {
  test('counts each of many parallel items once, also those whose nodes were dropped', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    tracker.startingStage('many', { onFailure: 'SKIP_ITEM' });
    const running = tracker.runStageInParallel(400, numbers(400), name, async (item) => {
      await bench.work(item);
      if (item % 2 === 0) throw new Cancelled();
    });
    await turn();
    tracker.cancel('enough');
    for (const item of numbers(400)) await bench.finish(item);
    expect(await running).toEqual({ succeeded: 200, failed: 0, isComplete: false });
    expect(stageOf(tracker)).toMatchObject({ started: 400, done: 200, failed: 0, skipped: 200 });
  });

  test('it works on so many items at a time, and on all of them', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    tracker.startingStage('a', { total: 20 });
    const running = tracker.runStageInParallel(4, numbers(20), name, bench.work);
    await turn();
    expect(bench.open).toEqual([1, 2, 3, 4]);
    // The newest first, so that the oldest of each four is overtaken.
    while (bench.open.length > 0) await bench.finish(bench.open.at(-1)!);
    expect(await running).toEqual({ succeeded: 20, failed: 0, isComplete: true });
    expect(bench.most).toBe(4);
    expect(stageOf(tracker)).toMatchObject({ total: 20, started: 20, done: 20, failed: 0, status: 'SUCCESS' });
  });

  test('each item keeps its identity: they end in any order, each with its own outcome', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const running = tracker.runStageInParallel(3, [1, 2, 3], name, bench.work);
    await turn();
    await bench.fail(2);
    expect(statuses(tracker).slice(2)).toEqual(['RUNNING', 'ERROR', 'RUNNING']);
    await bench.finish(3);
    expect(statuses(tracker).slice(2)).toEqual(['RUNNING', 'ERROR', 'SUCCESS']);
    await bench.finish(1);
    await running;
    expect(itemsOf(tracker).map(({ description, error }) => [description, error])).toEqual([
      ['item 1', null],
      ['item 2', 'bad 2'],
      ['item 3', null],
    ]);
  });

  test('a stage whose items failed but may be skipped ends properly', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const outcome = await tracker.runStageInParallel(3, numbers(6), name, failingAt(2, 5));
    expect(outcome).toEqual({ succeeded: 4, failed: 2, isComplete: true });
    expect(stageOf(tracker)).toMatchObject({ status: 'SUCCESS', summary: '4 successful and 2 failed items' });
    expect(counts(tracker)).toEqual([4, 2, 0]);
  });

  test('a stage with no items at all ends properly', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    expect(await tracker.runStageInParallel(3, [], name, assertNever)).toMatchObject({ isComplete: true });
    expect(stageOf(tracker)).toMatchObject({ status: 'SUCCESS', summary: '0 successful and 0 failed items' });
  });

  test('a failure that aborts keeps the others from being begun, even while the source is waited for', async () => {
    const { tracker } = setUp();
    const bench = new Bench();
    const source = async function* () {
      yield 1;
      await new Promise(() => undefined);
    };
    const running = tracker.runStageInParallel(3, source(), name, bench.work);
    await turn();
    await bench.fail(1);
    expect(await running).toEqual({ succeeded: 0, failed: 1, isComplete: false });
    expect(statuses(tracker)).toEqual(['ERROR', 'ERROR', 'ERROR']);
  });

  test.each(['FAIL', 'SKIP_STAGE'] as const)('with %s it fails with its last item too', async (onFailure) => {
    const { tracker } = setUp();
    const bench = new Bench();
    tracker.startingStage('a', { onFailure });
    const running = tracker.runStageInParallel(3, [1, 2], name, bench.work);
    await turn();
    await bench.finish(1);
    await bench.fail(2);
    expect(await running).toEqual({ succeeded: 1, failed: 1, isComplete: false });
    expect([stageOf(tracker).status, tracker.isAborted]).toEqual(['ERROR', onFailure === 'FAIL']);
  });

  test.each([0, 1, -3, Number.NaN, 1.9])('a parallelism of %d is one at a time', async (parallelism) => {
    const { tracker } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(parallelism, [1, 2], name, bench.work);
    await turn();
    expect(bench.open).toEqual([1]);
    await bench.finish(1);
    await bench.finish(2);
    expect((await running).succeeded).toBe(2);
  });

  test('counters are right with many items at a time', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM', total: 5_000 });
    const outcome = await tracker.runStageInParallel(150, numbers(5_000), () => null, async (item) => {
      await turn();
      if (item % 10 === 0) throw new Error('tenth');
    });
    expect(outcome).toEqual({ succeeded: 4_500, failed: 500, isComplete: true });
    expect(stageOf(tracker)).toMatchObject({ total: 5_000, started: 5_000, done: 4_500, failed: 500, skipped: 0 });
  });

  test('what is done is counted right even when more are under way than the tree can show', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM', total: 2_000 });
    const outcome = await tracker.runStageInParallel(1_000, numbers(2_000), () => null, async (item) => {
      await turn();
      if (item % 10 === 0) throw new Error('tenth');
    });
    expect(outcome).toEqual({ succeeded: 1_800, failed: 200, isComplete: true });
    expect(counts(tracker)).toEqual([1_800, 200, 0]);
  });
});

describe('the source of items', () => {
  /** Numbers from 1 on, telling how many were asked for and whether it was closed. */
  function endless() {
    const seen = { asked: 0, closed: 0 };
    const source = async function* () {
      try {
        for (;;) yield ++seen.asked;
      } finally {
        await turn();
        seen.closed += 1;
      }
    };
    return { seen, source: source() };
  }

  test.each([1, 3])('an async source is asked only when a hand of %d is free', async (parallelism) => {
    const { tracker } = setUp();
    const bench = new Bench();
    const { source, seen } = endless();
    const running = tracker.runStageInParallel(parallelism, source, name, bench.work);
    await turn();
    expect(seen.asked).toBe(parallelism);
    await bench.finish(1);
    expect(seen.asked).toBe(parallelism + 1);
    tracker.cancel();
    for (const item of bench.open) await bench.finish(item);
    expect((await running).succeeded).toBe(parallelism + 1);
    expect(seen).toEqual({ asked: parallelism + 1, closed: 1 });
  });

  test('a source that ends is not closed again, and one that is left early is closed', async () => {
    const { tracker } = setUp();
    const closed: string[] = [];
    const source = function* (title: string) {
      try {
        yield* [1, 2];
      } finally {
        closed.push(title);
      }
    };
    await tracker.runStage(source('whole'), name, () => undefined);
    await tracker.runStage(source('part'), name, failingAt(1));
    expect(closed).toEqual(['whole', 'part']);
  });

  test('a source that fails fails the stage as its policy says, once the items under way have ended', async () => {
    const source = async function* () {
      yield 1;
      throw new Error('lost the connection');
    };
    for (const [onFailure, isAborted] of [['SKIP_STAGE', false], ['SKIP_ITEM', true]] as const) {
      const { tracker } = setUp();
      const bench = new Bench();
      tracker.startingStage('a', { onFailure });
      const running = tracker.runStageInParallel(2, source(), name, bench.work);
      await turn();
      expect(stageOf(tracker).status).toBe('RUNNING');
      await bench.finish(1);
      expect(await running).toEqual({ succeeded: 1, failed: 0, isComplete: false });
      expect(stageOf(tracker)).toMatchObject({ status: 'ERROR', error: 'lost the connection' });
      expect(tracker.isAborted).toBe(isAborted);
    }
  });

  test('a source that fails when it is closed changes nothing', async () => {
    const { tracker } = setUp();
    const source = function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- that is the point
        throw new Error('cannot close');
      }
    };
    tracker.startingStage('a', { onFailure: 'SKIP_STAGE' });
    const outcome = await tracker.runStage(source(), name, failingAt(1));
    expect(outcome).toEqual({ succeeded: 0, failed: 1, isComplete: false });
    expect(stageOf(tracker).error).toBe('skipped stage. 0 successful and 1 failed items');
  });

  test('a promise among plain items is the item: if it rejects, that item alone fails', async () => {
    const { tracker } = setUp();
    tracker.startingStage('a', { onFailure: 'SKIP_ITEM' });
    const items = [Promise.resolve(1), Promise.reject(new Error('no')), Promise.resolve(3)];
    const outcome = await tracker.runStage(items, () => null, (item) => item);
    expect(outcome).toEqual({ succeeded: 2, failed: 1, isComplete: true });
  });

  test.each([
    ['a number as items', [7, name, assertNever]],
    ['a name as the first argument', ['copy', () => 'done']],
    ['nothing', []],
    ['items without work', [[1], name]],
    ['items without a description', [[1], undefined, assertNever]],
  ])('a wrong call is refused with what to do: %s', (_, words) => {
    const { tracker, changes } = setUp();
    const runStage = tracker.runStage.bind(tracker) as (...values: unknown[]) => unknown;
    expect(() => runStage(...words)).toThrow(/^a stage takes items, a function .* To name the stage, call startingStage/);
    expect(changes).toEqual([]);
  });

  test('ten thousand items leave a small tree', async () => {
    const { tracker } = setUp();
    await tracker.runStage(numbers(10_000).values(), name, () => undefined);
    expect(stageOf(tracker).done).toBe(10_000);
    expect(itemsOf(tracker).length).toBeLessThanOrEqual(300);
  });
});

describe('the end', () => {
  test('what is open is completed implicitly', () => {
    const { tracker } = setUp();
    tracker.startingProcess();
    tracker.startingStage('a');
    tracker.startingItem();
    tracker.end();
    expect(statuses(tracker)).toEqual(['SUCCESS', 'SUCCESS', 'SUCCESS']);
    expect(processOf(tracker).summary).toBe('(process completed implicitly)');
    expect(tracker.isAborted).toBe(false);
  });

  test('with an error what is open fails with it', () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    tracker.startingItem();
    const error = new Error('thrown');
    tracker.end(error);
    expect(statuses(tracker)).toEqual(['ERROR', 'ERROR', 'ERROR']);
    expect(processOf(tracker).error).toBe('thrown');
    expect(tracker.failure).toBe(error);
  });

  test('a stage that was not awaited fails the attempt, unless it was told to stop', async () => {
    for (const stopsIt of [false, true]) {
      const { tracker } = setUp();
      const bench = new Bench();
      const running = tracker.runStage([1, 2], name, bench.work);
      await turn();
      if (stopsIt) tracker.cancel();
      if (stopsIt) expect(() => tracker.endReturned()).not.toThrow();
      else expect(() => tracker.endReturned()).toThrow(/returned while a stage was running: await/);
      expect(processOf(tracker).status).toBe(stopsIt ? 'CANCELLED' : 'ERROR');
      await bench.finish(1);
      expect(await running).toMatchObject({ isComplete: false });
    }
  });

  test('after a cancel it ends CANCELLED', () => {
    const { tracker } = setUp();
    tracker.startingStage('a');
    tracker.startingItem();
    tracker.cancel();
    tracker.end(new Cancelled('gave up'));
    expect(statuses(tracker)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
  });

  test('after it calls of the handler change nothing, and late stages stop', async () => {
    const { tracker, changes } = setUp();
    const bench = new Bench();
    const running = tracker.runStageInParallel(3, [1, 2], name, bench.work);
    await turn();
    tracker.end();
    const { length } = changes;
    await bench.finish(1);
    await bench.finish(2);
    expect(await running).toMatchObject({ isComplete: false });
    tracker.startingProcess();
    tracker.failedItem('late');
    tracker.cancel();
    expect(() => tracker.startingStage('late')).toThrow(Cancelled);
    await expect(tracker.runStage<string>(assertNever, 'not begun')).rejects.toThrow(/the attempt has ended/);
    await expect(tracker.runStage([3], name, assertNever)).rejects.toThrow(Cancelled);
    expect([bench.begun, changes.length]).toEqual([[1, 2], length]);
  });
});

function assertNever(): never {
  throw new Error('this is not to be called');
}

const throwing: ProxyHandler<object> = { get: assertNever, getPrototypeOf: assertNever, ownKeys: assertNever };
