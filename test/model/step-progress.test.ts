// Progress that follows from stored steps: which trees say nothing more, and what is shown in their place.
import { describe, expect, test } from 'vitest';
import { readProgress } from '../../src/engine/inspect/progress.ts';
import type { Job } from '../../src/model/job.ts';
import { track } from '../../src/model/progress.ts';
import { emptyProgress, stagesKeptMax, type Progress } from '../../src/model/progress-tree.ts';
import { followsFromSteps, shownProgress } from '../../src/model/step-progress.ts';
import { beforeSteps, type StoredStep } from '../../src/model/step.ts';
import type { Store } from '../../src/store/store.ts';

const stepOf = (n: number, more: Partial<StoredStep> = {}): StoredStep =>
  ({ job: 1, name: `step ${n}`, kind: 'step', n, generation: 1, fence: 1, startedAt: n, endedAt: n, result: '1', question: null, ...more });

const jobOf = (more: object): Job => ({ id: 1, fence: 2, changed: 9, ...more }) as Job;

const names = (progress: Progress | null): string[] | undefined =>
  progress?.processes.flatMap(({ stages }) => stages).map(({ description }) => description!);

const stage = track(emptyProgress, { kind: 'startStage', description: 'a', policy: 'SKIP_STAGE' }, 1);
const tree = track(stage, { kind: 'completeStage', summary: null }, 2);

describe('a tree of steps', () => {
  test('follows from them if they ended well, one after the other', () => {
    expect(followsFromSteps(tree)).toBe(true);
  });

  const [process] = tree.processes;
  const [first] = process!.stages;
  test.each<[string, Progress]>([
    ['was cancelled', { ...tree, cancelledAt: 3 }],
    ['has two processes', { ...tree, processes: [process!, process!] }],
    ['has a failed process', { ...tree, processes: [{ ...process!, status: 'ERROR' }] }],
    ['has lost stages', { ...tree, processes: [{ ...process!, stagesDropped: 1 }] }],
    ['has a failed stage', { ...tree, processes: [{ ...process!, stages: [{ ...first!, status: 'ERROR' }] }] }],
    ['has a stage of several steps', { ...tree, processes: [{ ...process!, stages: [{ ...first!, started: 1 }] }] }],
  ])('does not follow from them if it %s', (_, given) => {
    expect(followsFromSteps(given)).toBe(false);
  });
});

describe('the shown tree', () => {
  test('has the last of many steps', async () => {
    const steps = Array.from({ length: 1_500 }, (_, index) => stepOf(index + 1));
    const store = {
      now: () => 2_000,
      progress: async () => null,
      steps: async (_: readonly number[], after = beforeSteps, limit = 1_000) => steps.filter(({ n }) => n > after).slice(0, limit),
    } as unknown as Store;
    const shown = names(await readProgress(store, jobOf({ state: 'running' })))!;
    expect([shown.length, shown.at(-1)]).toEqual([stagesKeptMax, 'step 1500']);
  });

  test('does not have answers that came before their questions', () => {
    const early = stepOf(0, { name: 'early', kind: 'wait', fence: 0 });
    expect(names(shownProgress(jobOf({ state: 'running' }), null, [early, stepOf(1)], 9))).toEqual(['step 1']);
  });

  test('is the stored one of an earlier attempt if the last one crashed', () => {
    expect(shownProgress(jobOf({ state: 'pending' }), { ...tree, fence: 1 }, [stepOf(1)], 9)).toEqual({ ...tree, fence: 1 });
  });

  test('of a job that failed without a stored one has not ended well', () => {
    const shown = (fate: string) => shownProgress(jobOf({ state: 'ended', fate }), null, [stepOf(1)], 9)!.processes[0]!.status;
    expect([shown('failed'), shown('succeeded')]).toEqual(['RUNNING', 'SUCCESS']);
  });
});
