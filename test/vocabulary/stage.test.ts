// The stages of a job: what each knows, and the ten histories that are legal.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorCodes, terminateCodes } from '../../src/model/state.ts';
import {
  errorNumbers, isLegalHistory, legalHistories, stageHistory, stageInfo, stageOf, terminateNumbers,
} from '../../src/vocabulary/stage.ts';
import type { StageEvent, StageInfo } from '../../src/vocabulary/stage.ts';
import { reachable } from '../support/reachable.ts';
import {
  again, bornAt, broken, cancel, claim, fail, lapse, made, on, pause, plan, release, requeue, resume, retry, settle,
  stop, succeed, unmade, type Made,
} from './made.ts';
import { sampleSize } from '../support/size.ts';

const withTasks = { first: { phase: 'prepare' } } as const;

/** Types and times from birth: `C0 Q0 R5`. */
const told = ({ events }: Made): string =>
  stageHistory(events).map(({ type, at }) => `${type === 'COMPLETE' ? 'OK' : type[0]}${at - bornAt}`).join(' ');

describe('the numbers of the codes', () => {
  test('are those of the originals', () => {
    expect(errorCodes.map((code) => errorNumbers[code])).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(errorNumbers['timed out']).toBe(3);
    expect(terminateCodes.map((code) => terminateNumbers[code])).toEqual([0, 1, 2, 3, 4]);
    expect(terminateNumbers.parent).toBe(3);
  });
});

describe('a history', () => {
  test('goes from creation through queue and run to the end', () => {
    expect(told(made({}))).toBe('C0 Q0');
    expect(told(made({}, [5, claim()]))).toBe('C0 Q0 R5');
    expect(told(made({}, [5, claim()], [9, succeed()]))).toBe('C0 Q0 R5 OK9');
  });

  test('jumps to the end from wherever the job is', () => {
    expect(told(made({}, [5, stop()]))).toBe('C0 Q0 T5');
    expect(told(made({}, [5, claim()], [9, stop()]))).toBe('C0 Q0 R5 T9');
    expect(told(made({}, [5, claim()], [9, fail(broken, false)]))).toBe('C0 Q0 R5 E9');
    const gaveUp = made({}, [1, claim()], [2, cancel({ fate: 'failed' })], [3, requeue(0)], [4, claim()]);
    expect(told(gaveUp)).toBe('C0 Q0 R1 E4');
  });

  test('has the code and the message of an error, and the code of a termination', () => {
    const failed = made({}, [0, claim()], [9, fail({ code: 'timed out', message: 'too long' }, false)]);
    expect(stageHistory(failed.events).at(-1)).toEqual({ type: 'ERROR', at: bornAt + 9, code: 3, message: 'too long' });
    const stopped = made({}, [9, stop('parent')]);
    expect(stageHistory(stopped.events).at(-1)).toEqual({ type: 'TERMINATE', at: bornAt + 9, code: 3 });
  });

  test.each([
    ['tried again', made({}, [1, claim()], [2, fail(broken)], [3, claim()], [4, succeed()])],
    ['given back', made({}, [1, claim()], [2, release()], [3, claim()], [4, succeed()])],
    ['lost', made({}, [1, claim('w1', bornAt + 2)], [2, lapse()], [3, claim()], [4, succeed()])],
    ['requeued', made({}, [1, claim()], [2, requeue(0)], [3, claim()], [4, succeed()])],
    ['paused', made({}, [1, claim()], [2, release()], [2, pause()], [2, resume()], [3, claim()], [4, succeed()])],
    ['a parent', made({}, [1, claim()], [2, plan(1)], [2, settle()], [3, claim()], [4, succeed()])],
    ['a run with tasks', made(withTasks, [1, claim()], [2, plan(1)], [2, settle()], [3, claim()], [4, succeed()])],
  ])('of a job that was %s has one run, from its first claim to its end', (_how, job) => {
    expect(told(job)).toBe('C0 Q0 R1 OK4');
  });

  test('of a job that waits for another try says how far it came, while its stage says where it is', () => {
    const waiting = made({}, [1, claim()], [2, fail(broken)]);
    expect([told(waiting), stageOf(waiting.job)]).toEqual(['C0 Q0 R1', 'queue']);
  });

  test('begins again with the queue when the job is opened again', () => {
    const failed = made({}, [1, claim()], [2, fail(broken, false)]);
    expect(told(on(failed, [9, retry()]))).toBe('C0 Q9');
    expect(told(on(failed, [9, retry()], [10, claim()], [11, succeed()]))).toBe('C0 Q9 R10 OK11');
    expect(told(on(failed, [9, retry()], [10, stop()]))).toBe('C0 Q9 T10');
  });

  test('of a run that is opened again for its tasks is in its run stage at once', () => {
    const failed = made(withTasks, [1, claim()], [2, plan(2)], [3, settle()], [4, claim()], [5, fail(broken, false)]);
    const open = on(failed, [9, retry(2)]);
    expect([told(open), stageOf(open.job)]).toEqual(['C0 Q9 R9', 'run']);
    expect(told(on(open, [10, cancel({ fate: 'failed' })], [11, settle()]))).toBe('C0 Q9 R9 E11');
  });

  test('begins again with the queue when the job repeats', () => {
    const repeating = made({ policy: { repeat: 'FINISHED, +1 HOUR' } }, [1, claim()], [2, succeed()]);
    expect([told(repeating), stageOf(repeating.job)]).toEqual(['C0 Q2', 'queue']);
    expect(told(made({}, [1, claim()], [2, again(bornAt)], [3, claim()]))).toBe('C0 Q2 R3');
  });

  test('does not change when an ended job is edited', () => {
    const edited = made({}, [1, claim()], [2, succeed()], [3, () => ({ do: 'edit', edit: { priority: 9 } })]);
    expect(told(edited)).toBe('C0 Q0 R1 OK2');
  });
});

describe('the legal histories', () => {
  const types: readonly StageEvent['type'][] = ['CREATE', 'QUEUE', 'RUN', 'COMPLETE', 'ERROR', 'TERMINATE'];
  const isLegal = (history: readonly StageEvent['type'][]): boolean =>
    isLegalHistory(history.map((type) => ({ type })));

  test('are ten', () => {
    expect(new Set(legalHistories.map((history) => history.join())).size).toBe(10);
    expect(legalHistories.every(isLegal)).toBe(true);
  });

  test('are only those that go forward: each stage after the one before, one end, complete only after run', () => {
    const isForward = (history: readonly StageEvent['type'][]): boolean => {
      const text = history.map((type) => (type === 'COMPLETE' ? 'K' : type[0])).join('');
      return /^C(Q(RK?)?)?[ET]?$/.test(text) && !/K[ET]/.test(text);
    };
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...types), { maxLength: 6 }), (history) => {
        expect(isLegal(history)).toBe(isForward(history));
      }),
      { numRuns: sampleSize(2_000) },
    );
  });

  test('are the only ones: every stored history is legal at every moment', () => {
    fc.assert(
      fc.property(reachable({ stepsMax: 40 }), ({ moments }) => {
        for (const { events } of moments) expect(stageHistory(events)).toSatisfy(isLegalHistory);
      }),
      { numRuns: sampleSize(500) },
    );
  });

  test('always: times never fall, and the last step is the stage, or a run from which the job went back', () => {
    const ends = { COMPLETE: 'done', ERROR: 'done', TERMINATE: 'done' } as const;
    const stageAfter = { CREATE: 'create', QUEUE: 'queue', RUN: 'run', ...ends } as const;
    fc.assert(
      fc.property(reachable({ stepsMax: 40 }), ({ moments }) => {
        for (const { job, events } of moments) {
          const history = stageHistory(events);
          const times = history.map(({ at }) => at);
          expect(times).toEqual(times.toSorted((a, b) => a - b));
          const reached = stageAfter[history.at(-1)!.type];
          const isBack = reached === 'run' && stageOf(job) === 'queue';
          if (!isBack) expect(reached).toBe(stageOf(job));
        }
      }),
      { numRuns: 300 },
    );
  });

  test('always: within a life a history only grows', () => {
    fc.assert(
      fc.property(reachable({ stepsMax: 40 }), ({ events }) => {
        for (const [index, { kind }] of events.entries()) {
          if (index === 0 || kind === 'reopened' || kind === 'repeated') continue;
          const before = stageHistory(events.slice(0, index));
          expect(stageHistory(events.slice(0, index + 1)).slice(0, before.length)).toEqual(before);
        }
      }),
    );
  });
});

describe('what each stage knows', () => {
  const given = { position: 4, log: ['a line'] };
  const infoOf = ({ job, events }: Made): StageInfo<string[]> => stageInfo(job, events, given);
  const create = { at: bornAt };
  const queue = { at: bornAt, position: null };
  const standing = { at: bornAt, position: 4 };
  const run = { at: bornAt + 5, log: ['a line'] };

  test('create: its time', () => {
    expect(stageInfo(unmade(), [], given)).toEqual({ stage: 'create', create, queue: null, run: null, done: null });
  });

  test('queue: its time and the position', () => {
    expect(infoOf(made({}))).toEqual({ stage: 'queue', create, queue: standing, run: null, done: null });
  });

  test('run: its time and the log; the position is null', () => {
    expect(infoOf(made({}, [5, claim()]))).toEqual({ stage: 'run', create, queue, run, done: null });
  });

  test('queue again: the position beside what the run left', () => {
    const back = infoOf(made({}, [5, claim()], [9, release()]));
    expect(back).toEqual({ stage: 'queue', create, queue: standing, run, done: null });
  });

  test('done, complete: its time and the result', () => {
    const done = { at: bornAt + 9, fate: 'complete', result: '{"sent":3}' };
    const succeeded = made({}, [5, claim()], [9, succeed('{"sent":3}')]);
    expect(infoOf(succeeded)).toEqual({ stage: 'done', create, queue, run, done });
  });

  test('done, error: code, message and data', () => {
    const error = { code: 'missing output', message: 'nothing came', data: { of: 7 } } as const;
    const failed = infoOf(made({}, [5, claim()], [9, fail(error, false)]));
    expect(failed.done).toEqual({ at: bornAt + 9, fate: 'error', ...error, code: 4, reason: 'missing output' });
    expect(infoOf(made({}, [5, claim()], [9, fail(broken, false)])).done).toMatchObject({ code: 0, data: null });
  });

  test('done, terminate: code, message and who asked, not who carried it out', () => {
    const asked = made({}, [5, claim()], [6, cancel({ code: 'admin' }), 'ann'], [9, succeed(), 'w1']);
    const done = { at: bornAt + 9, fate: 'terminate', code: 1, reason: 'admin', message: 'ann said so', by: 'ann' };
    expect(infoOf(asked)).toEqual({ stage: 'done', create, queue, run, done });
  });

  test('done, terminated before it ever ran: the run stage is null', () => {
    const done = { at: bornAt + 9, fate: 'terminate', code: 0, reason: 'user', message: 'bob said so', by: 'bob' };
    expect(infoOf(made({}, [9, stop(), 'bob']))).toEqual({ stage: 'done', create, queue, run: null, done });
  });

  test('done, terminate by another than who asked first: whose word ended it', () => {
    const asked = made({}, [5, claim()], [6, cancel({ code: 'automation', fate: 'failed' }), 'w1']);
    const stopped = on(asked, [9, stop('user'), 'bob']);
    expect(infoOf(stopped).done).toMatchObject({ code: 0, reason: 'user', message: 'bob said so', by: 'bob' });
  });

  test('always: the data agrees with the history', () => {
    fc.assert(
      fc.property(reachable(), ({ job, events }) => {
        const history = stageHistory(events);
        const { create: born, queue: queued, run: ran, done, stage } = stageInfo(job, events, given);
        const times = [born, queued, ran, done].flatMap((known) => (known === null ? [] : [known.at]));
        expect(times).toEqual(history.map(({ at }) => at));
        const last = history.at(-1)!;
        if (stage === 'done' && 'code' in last) expect(done).toMatchObject({ code: last.code });
      }),
    );
  });
});
