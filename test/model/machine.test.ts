// The machine by itself: every command on every kind of job, fences, lives of a job, and what holds of any random life.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import type { Command, CommandName } from '../../src/model/command.ts';
import { endings, type Event } from '../../src/model/event.ts';
import { replay } from '../../src/model/evolve.ts';
import {
  tokenHolder, type JobOrigin, type EndedJob, type Job, type Policy, type RunningJob,
} from '../../src/model/job.ts';
import { create, step, steps, transitions, type Asking } from '../../src/model/machine.ts';
import type { Phase } from '../../src/model/state.ts';
import { isRefusal } from '../../src/refusal.ts';
import { checkHistory } from '../../src/conformance/invariants.ts';
import { sampleSize } from '../support/size.ts';

const start = 1_800_000_000_000;
const asking = (now = start): Asking => ({ by: 'tester', now });
const error = { code: 'unknown', message: 'it failed' } as const;

const birth: JobOrigin = {
  id: 7, kind: 'run', type: 'work', def: null, parent: null, key: null, created: start, gate: null, unique: null,
  policy: {}, tags: null, input: '{}', tick: null, follows: null, typeVersion: 1,
};

type Spec = Partial<JobOrigin> & { readonly phase?: Phase; readonly hold?: 'pause' | 'parent' | 'runs' };

function born({ phase = 'run', hold, ...more }: Spec): Change {
  return create({ ...birth, ...more }, { due: start, priority: 0, phase, ...(hold ? { hold } : {}) }, asking());
}

const made = (spec: Spec = {}): Job => born(spec).after!;

/** What becomes of the job; a refusal is a mistake of the test. */
function after(job: Job, command: Command, now = start): Job {
  const change = step(job, command, asking(now));
  if (isRefusal(change)) throw change;
  return change.after!;
}

const claim = (job: Job, now = start, until: number | null = null): RunningJob =>
  after(job, { do: 'claim', holder: 'worker', until }, now) as RunningJob;

/** The kinds of events that a command makes, or the code with which it is refused. */
function told(job: Job, command: Command, now = start): string {
  const change = step(job, command, asking(now));
  return isRefusal(change) ? change.code : change.events.map(({ kind }) => kind).join(' ') || 'nothing';
}

const running = claim(made());
const preparing = claim(made({ phase: 'prepare' }));
const waiting = after(preparing, { do: 'plan', fence: 1, tasks: 2 });
const scenes = {
  late: after(claim(made({ policy: { retryAfter: '+0 SECONDS' } })), { do: 'lapse' }),
  pending: made(),
  paused: made({ hold: 'pause' }),
  child: made({ hold: 'parent' }),
  waiting,
  running,
  preparing,
  cancelling: after(running, { do: 'cancel', code: 'user' }),
  ended: after(running, { do: 'succeed', fence: 1 }),
} satisfies Record<string, Job>;
const sceneNames = Object.keys(scenes) as (keyof typeof scenes)[];

interface Row {
  readonly title: string;
  readonly command: Command;
  /** By scene, in their order. */
  readonly wanted: readonly string[];
}

const wrong = 'wrong.state';
const lost = 'lost.lease';
const fence = 1;
const gate = 'any/work//';

/** For commands that only who holds the lease may give: by scene, running, preparing and cancelling. */
const byHolder = (whenRunning: string, whenPreparing: string, whenCancelling: string): string[] =>
  [lost, lost, lost, lost, lost, whenRunning, whenPreparing, whenCancelling, lost];

const table: readonly Row[] = [
  {
    title: 'claim',
    command: { do: 'claim', holder: 'worker', until: null },
    wanted: ['claimed', 'claimed', wrong, wrong, wrong, wrong, wrong, wrong, wrong],
  },
  { title: 'succeed', command: { do: 'succeed', fence }, wanted: byHolder('succeeded', wrong, 'cancelled') },
  {
    title: 'fail for good',
    command: { do: 'fail', fence, error, retryable: false },
    wanted: byHolder('failed', 'failed', 'cancelled'),
  },
  {
    title: 'fail for now',
    command: { do: 'fail', fence, error, retryable: true },
    wanted: byHolder('retried', 'retried', 'cancelled'),
  },
  { title: 'release', command: { do: 'release', fence }, wanted: byHolder('released', 'released', 'cancelled') },
  {
    title: 'sleep',
    command: { do: 'sleep', fence, name: 'a while', until: start },
    wanted: byHolder('slept', 'slept', 'cancelled'),
  },
  {
    title: 'sleep until an answer',
    command: { do: 'sleep', fence, name: 'ok', until: start, seen: running.version },
    wanted: byHolder('slept', 'slept', 'cancelled'),
  },
  {
    title: 'sleep although answers may have come',
    command: { do: 'sleep', fence, name: 'ok', until: start, seen: running.version - 1 },
    wanted: byHolder('released', 'released', 'cancelled'),
  },
  {
    title: 'answer',
    command: { do: 'answer', name: 'ok', due: start },
    wanted: sceneNames.map((name) => (name === 'cancelling' || name === 'ended' ? wrong : 'answered')),
  },
  {
    title: 'unanswer',
    command: { do: 'unanswer', fence, name: 'ok', cause: 'timeout' },
    wanted: byHolder('unanswered', 'unanswered', 'unanswered'),
  },
  { title: 'again', command: { do: 'again', fence, due: start }, wanted: byHolder('repeated', 'repeated', 'repeated') },
  {
    title: 'hand off',
    command: { do: 'handOff', fence, holder: 'outside', until: null },
    wanted: byHolder('handedOff', 'handedOff', 'handedOff'),
  },
  { title: 'plan', command: { do: 'plan', fence, tasks: 2 }, wanted: byHolder('planned', 'planned', 'cancelled') },
  {
    title: 'adopt as holder',
    command: { do: 'adopt', fence, tasks: 1 },
    wanted: byHolder('adopted', 'adopted', 'adopted'),
  },
  {
    title: 'adopt',
    command: { do: 'adopt', tasks: 1 },
    wanted: ['adopted', wrong, wrong, wrong, 'adopted', 'adopted', 'adopted', 'adopted', wrong],
  },
  {
    title: 'reclaim',
    command: { do: 'reclaim', holder: 'worker' },
    wanted: ['handedOff', ...sceneNames.slice(1).map(() => wrong)],
  },
  { title: 'expire', command: { do: 'expire' }, wanted: sceneNames.map(() => wrong) },
  { title: 'settle', command: { do: 'settle' }, wanted: [wrong, wrong, wrong, wrong, 'settled', wrong, wrong, wrong, wrong] },
  { title: 'free', command: { do: 'free' }, wanted: [wrong, wrong, wrong, 'freed', wrong, wrong, wrong, wrong, wrong] },
  {
    title: 'follow',
    command: { do: 'follow', runs: 1 },
    wanted: sceneNames.map(() => 'followed'),
  },
  { title: 'proceed', command: { do: 'proceed', unsuccessful: 0 }, wanted: sceneNames.map(() => wrong) },
  { title: 'await', command: { do: 'await', runs: 1 }, wanted: sceneNames.map(() => wrong) },
  { title: 'pause', command: { do: 'pause' }, wanted: ['paused', 'paused', wrong, wrong, wrong, wrong, wrong, wrong, wrong] },
  { title: 'resume', command: { do: 'resume' }, wanted: [wrong, wrong, 'resumed', wrong, wrong, wrong, wrong, wrong, wrong] },
  {
    title: 'cancel',
    command: { do: 'cancel', code: 'user' },
    wanted: ['cancelled', 'cancelled', 'cancelled', 'cancelled', 'cancelAsked', 'cancelAsked', 'cancelAsked', 'nothing', wrong],
  },
  {
    title: 'stop',
    command: { do: 'stop', code: 'admin' },
    wanted: [...sceneNames.slice(1).map(() => 'cancelled'), wrong],
  },
  {
    title: 'lapse',
    command: { do: 'lapse' },
    wanted: [wrong, wrong, wrong, wrong, wrong, 'lapsed', 'lapsed', 'cancelled', wrong],
  },
  {
    title: 'retry',
    command: { do: 'retry', reopens: 0 },
    wanted: [...sceneNames.slice(1).map(() => wrong), 'reopened'],
  },
  {
    title: 'requeue',
    command: { do: 'requeue', due: start + 5 },
    wanted: ['resumed', 'edited', 'resumed', 'resumed', 'resumed', 'released', 'released', 'released', 'reopened'],
  },
  { title: 'edit', command: { do: 'edit', edit: { priority: 3 } }, wanted: sceneNames.map(() => 'edited') },
  {
    title: 'edit as holder',
    command: { do: 'edit', fence, edit: { priority: 3 } },
    wanted: byHolder('edited', 'edited', 'edited'),
  },
];

const follower = made({ hold: 'runs', follows: { on: 'succeeded', otherwise: 'cancel' } });
const patient = made({ hold: 'runs', follows: { on: 'succeeded', otherwise: 'wait' } });
const alarm = made({ hold: 'runs', follows: { on: 'failed', otherwise: 'cancel' } });
const lastly = made({ hold: 'runs', follows: { on: 'ended', otherwise: 'cancel' } });

describe('a job that follows runs', () => {
  const proceed = (unsuccessful: number) => ({ do: 'proceed', unsuccessful }) as const;

  test.each([
    ['all succeeded, and it wants that', follower, 0, 'proceeded'],
    ['one failed, and it wants success', follower, 1, 'cancelled'],
    ['one failed, and it waits for a retry', patient, 1, 'nothing'],
    ['one failed, and it wants a failure', alarm, 1, 'proceeded'],
    ['all succeeded, and it wants a failure', alarm, 0, 'cancelled'],
    ['all failed, and it wants only their end', lastly, 3, 'proceeded'],
  ])('%s', (_title, job, unsuccessful, wanted) => {
    expect(told(job, proceed(unsuccessful))).toBe(wanted);
  });

  test('is due when it proceeds, or later if it was asked for later, and its start limit moves with it', () => {
    const job = made({ follows: { on: 'succeeded', otherwise: 'cancel' }, policy: { startBy: start + 10 } });
    const held = create(job, { due: start, priority: 0, hold: 'runs' }, asking()).after!;
    expect(after(held, proceed(0), start + 100)).toMatchObject({ state: 'pending', due: start + 100, policy: { startBy: start + 110 } });
    const later = create(job, { due: start + 500, priority: 0, hold: 'runs' }, asking()).after!;
    expect(after(later, proceed(0), start + 100)).toMatchObject({ due: start + 500, policy: { startBy: start + 10 } });
  });

  test('waits again if runs that it follows are reopened', () => {
    expect(after(follower, { do: 'await', runs: 1 })).toMatchObject({ state: 'held', hold: 'runs' });
    const ended = after(follower, proceed(1));
    expect(after(ended, { do: 'retry', reopens: 0, awaits: 1 })).toMatchObject({ state: 'held', hold: 'runs' });
  });

  test('gets the results of other runs in its input', () => {
    expect(after(follower, { ...proceed(0), input: '[1]' })).toMatchObject({ input: '[1]' });
  });
});

describe('the table of transitions', () => {
  for (const { title, command, wanted } of table) {
    sceneNames.forEach((name, index) => {
      test(`${title}, of a job that is ${name}: ${wanted[index]}`, () => {
        expect(told(scenes[name], command)).toBe(wanted[index]);
      });
    });
  }

  test('has every pair that the machine allows, and no other', () => {
    const seen = new Set<string>();
    for (const { command, wanted } of table) {
      sceneNames.forEach((name, index) => {
        if (![wrong, lost].includes(wanted[index]!)) seen.add(`${command.do} ${scenes[name].state}`);
      });
    }
    // No scene has a start limit; a claim that comes too late is tried below.
    seen.add('expire pending');
    // No scene follows runs; that is tried above.
    seen.add('proceed held').add('await held');
    expect([...seen].sort()).toEqual(transitions().map(([name, state]) => `${name} ${state}`).sort());
  });

  test('a refusal says which job, and in which state it is', () => {
    const refusal = step(scenes.ended, { do: 'pause' }, asking());
    expect(refusal).toMatchObject({ code: wrong, detail: { id: 7, state: 'ended (succeeded)' } });
    expect((refusal as Error).message).toBe('cannot pause job 7: it is ended (succeeded)');
  });
});

describe('fences', () => {
  const fenced = table.filter(({ command }) => 'fence' in command);

  test('a former holder is refused every command', () => {
    const again = claim(after(running, { do: 'release', fence: 1 }));
    expect(again.fence).toBe(2);
    for (const { command } of fenced) {
      for (const stale of [0, 1, 3]) expect(told(again, { ...command, fence: stale } as Command)).toBe(lost);
    }
  });

  test('an ended job knows no fence, not even its last', () => {
    for (const { command } of fenced) expect(told(scenes.ended, command)).toBe(lost);
  });

  test('the refusal contains the current fence', () => {
    const refusal = step(running, { do: 'succeed', fence: 9 }, asking());
    expect(refusal).toMatchObject({ code: lost, detail: { id: 7, fence: 9, currentFence: 1, state: 'running' } });
  });
});

describe('a claim', () => {
  test('is refused before the job is due', () => {
    expect(told(made(), { do: 'claim', holder: 'w', until: null }, start - 1)).toBe(wrong);
  });

  test('gives a lease until a time, or an open one', () => {
    expect(claim(made(), start, start + 500).lease).toEqual({ holder: 'worker', until: start + 500 });
    expect(claim(made()).lease).toEqual({ holder: 'worker', until: null });
  });

  test('ends a task whose parent was asked to cancel', () => {
    const task = made({ kind: 'task', parent: 3 });
    const ended = after(task, { do: 'claim', holder: 'w', until: null, parentCancelled: true });
    expect(ended).toMatchObject({ state: 'ended', fate: 'cancelled', cancel: { code: 'parent' }, fence: 0 });
  });

  test('ends a job that may not start any more', () => {
    const job = made({ policy: { startBy: start + 10 } });
    expect(told(job, { do: 'claim', holder: 'w', until: null }, start + 10)).toBe('claimed');
    expect(told(job, { do: 'claim', holder: 'w', until: null }, start + 11)).toBe('cancelled');
    expect(told(job, { do: 'expire' }, start + 11)).toBe('cancelled');
    expect(told(job, { do: 'expire' }, start + 10)).toBe('wrong.state');
  });

  test('starts a job again that was late for its start and had started in time', () => {
    const started = claim(made({ policy: { startBy: start + 10 } }));
    const retried = after(started, { do: 'fail', fence: 1, error, retryable: true, retryAt: start + 20 });
    expect(told(retried, { do: 'expire' }, start + 20)).toBe('wrong.state');
    expect(told(retried, { do: 'claim', holder: 'w', until: null }, start + 20)).toBe('claimed');
  });

  test('follows retryAfter instead of the lease that was asked for', () => {
    const job = made({ policy: { retryAfter: '+5 SECONDS' } });
    expect(claim(job, start, start + 99).lease.until).toBe(start + 5000);
  });

  test('counts the job toward its gate, and only then', () => {
    const gated = made({ gate: 'any/work//' });
    expect([gated.admitted, claim(gated).admitted, claim(made()).admitted]).toEqual([false, true, false]);
  });

  test('counts the job toward its gate again if its late worker reclaims it', () => {
    const gated = made({ gate: 'any/work//', policy: { retryAfter: '+5 SECONDS' } });
    const lapsed = after(claim(gated), { do: 'lapse' }, start + 5000);
    const reclaimed = after(lapsed, { do: 'reclaim', holder: 'worker' }, start + 5000);
    expect([lapsed.admitted, reclaimed.admitted]).toEqual([false, true]);
  });
});

describe('an attempt', () => {
  const failing = (policy: Policy): string[] => {
    const story: string[] = [];
    let job = made({ policy: { baseMs: 0, ...policy } });
    while (job.state !== 'ended') {
      const change = step(claim(job), { do: 'fail', fence: job.fence + 1, error, retryable: true }, asking()) as Change;
      story.push(change.events[0]!.kind);
      job = change.after!;
    }
    return story;
  };

  test('that fails is made again until there are none left', () => {
    expect(failing({ attemptsMax: 1 })).toEqual(['failed']);
    expect(failing({ attemptsMax: 4 })).toEqual(['retried', 'retried', 'retried', 'failed']);
  });

  test('that was released or lost in a crash does not count', () => {
    const released = claim(after(running, { do: 'release', fence: 1 }));
    const lapsed = claim(after(released, { do: 'lapse' }), start + 1);
    expect([running.attempt, released.attempt, lapsed.attempt, lapsed.crashes]).toEqual([1, 1, 1, 1]);
  });

  test('is followed by a back-off after a failure, or by the given wait', () => {
    const waits = after(running, { do: 'fail', fence, error, retryable: true });
    expect(waits.due).toBeGreaterThan(start);
    expect(after(running, { do: 'fail', fence, error, retryable: true, retryAt: start + 3 }).due).toBe(start + 3);
  });

  test('that takes its workers down ends the job when the budget is spent', () => {
    let job = made({ policy: { crashesMax: 2, baseMs: 0 } });
    job = after(claim(job), { do: 'lapse' });
    expect(job.crashes).toBe(1);
    const poisoned = after(claim(job), { do: 'lapse' });
    expect(poisoned).toMatchObject({ state: 'ended', fate: 'failed', error: { code: 'crashed' } });
  });

  test('that takes its workers down never ends a job with retryAfter, whose hand-outs are limited instead', () => {
    const job = { ...claim(made({ policy: { retryAfter: '+1 MINUTE' } }), start, start), crashes: 5_000 } as Job;
    expect(told(job, { do: 'lapse' }, start + 60_000)).toBe('lapsed');
  });

  test('is not lost before its lease is over', () => {
    const leased = claim(made(), start, start + 100);
    expect(told(leased, { do: 'lapse' }, start + 99)).toBe(wrong);
    expect(told(leased, { do: 'lapse' }, start + 100)).toBe('lapsed');
  });
});

describe('a result', () => {
  const succeed = { do: 'succeed', fence, result: '{"a":1}' } as const;

  test('is stored for a job that has succeeded', () => {
    expect(after(running, succeed).result).toBe('{"a":1}');
  });

  test('is not stored for a job that repeats, or for a late outcome', () => {
    const repeating = claim(made({ policy: { repeat: 'FINISHED, +1 DAY' } }));
    const repeated = after(repeating, succeed);
    expect(repeated).toMatchObject({ state: 'pending', result: null, due: start + 86_400_000 });
    expect(after(scenes.cancelling, succeed)).toMatchObject({ fate: 'cancelled', result: null });
  });

  test('is gone when the job is opened again', () => {
    const ended = after(running, succeed);
    expect(after(ended, { do: 'retry', reopens: 0 })).toMatchObject({ state: 'pending', result: null, generation: 2 });
  });
});

describe('a request to give up', () => {
  const cancel = { do: 'cancel', code: 'user' } as const;

  test('is acknowledged and waits for the holder, whose outcome is recorded as late', () => {
    const change = step(scenes.cancelling, { do: 'succeed', fence }, asking()) as Change;
    expect(change.events).toMatchObject([{ kind: 'cancelled', code: 'user', late: 'succeeded' }]);
    const failed = step(scenes.cancelling, { do: 'fail', fence, error, retryable: true }, asking()) as Change;
    expect(failed.events).toMatchObject([{ kind: 'cancelled', late: 'failed' }]);
  });

  test('lets a job fail that gave up because a task failed', () => {
    const asked = after(waiting, { ...cancel, code: 'automation', fate: 'failed' });
    expect(after(asked, { do: 'settle' })).toMatchObject({ fate: 'failed', error: { code: 'automation' } });
  });

  test('that comes again may only shorten the patience', () => {
    const asked = after(running, { ...cancel, graceMs: 1000 });
    expect(told(asked, { ...cancel, graceMs: 2000 })).toBe('nothing');
    expect(told(asked, cancel)).toBe('nothing');
    expect(after(asked, { ...cancel, graceMs: 10 }).cancel?.stopAt).toBe(start + 10);
    expect(after(scenes.cancelling, { ...cancel, graceMs: 10 }).cancel?.stopAt).toBe(start + 10);
  });

  test('turns a failure into a cancel, never a cancel into a failure', () => {
    const failing = after(waiting, { ...cancel, fate: 'failed', graceMs: 1000 });
    expect(after(failing, cancel).cancel).toMatchObject({ fate: 'cancelled', stopAt: start + 1000 });
    const cancelling = after(waiting, cancel);
    expect(told(cancelling, { ...cancel, fate: 'failed' })).toBe('nothing');
    const sooner = after(cancelling, { ...cancel, fate: 'failed', graceMs: 5 });
    expect(sooner.cancel).toMatchObject({ fate: 'cancelled', stopAt: start + 5 });
  });

  test('ends the lease of what was handed off with its patience', () => {
    const handed = after(running, { do: 'handOff', fence, holder: tokenHolder('t'), until: start + 9000 });
    const untilAfter = (graceMs: number): unknown => (after(handed, { ...cancel, graceMs }) as RunningJob).lease.until;
    expect([untilAfter(100), untilAfter(10_000)]).toEqual([start + 100, start + 9000]);
  });

  test('is forgotten when the job is opened again', () => {
    const ended = after(scenes.cancelling, { do: 'release', fence });
    expect(ended).toMatchObject({ state: 'ended', fate: 'cancelled' });
    expect(after(ended, { do: 'retry', reopens: 0 }).cancel).toBeNull();
  });
});

describe('a run with tasks', () => {
  test('prepares, waits and gathers, each phase with tries of its own', () => {
    expect(waiting).toMatchObject({ state: 'held', hold: 'children', phase: 'gather', attempt: 0 });
    const gathering = claim(after(waiting, { do: 'settle' }));
    expect(gathering).toMatchObject({ phase: 'gather', attempt: 1, fence: 2 });
    expect(after(gathering, { do: 'succeed', fence: 2 })).toMatchObject({ state: 'ended', fate: 'succeeded' });
  });

  test('without tasks goes straight to gather', () => {
    const planned = after(preparing, { do: 'plan', fence, tasks: 0 });
    expect(planned).toMatchObject({ state: 'pending', phase: 'gather', due: start });
  });

  test('keeps what its tasks share', () => {
    expect(after(preparing, { do: 'plan', fence, tasks: 1, details: '{"x":1}' }).details).toBe('{"x":1}');
  });

  test('stays admitted from its first claim to its end', () => {
    const gated = claim(made({ gate: 'any/work//', phase: 'prepare' }));
    const held = after(gated, { do: 'plan', fence, tasks: 1 });
    const settled = after(held, { do: 'settle' });
    const gathering = claim(settled);
    const retried = after(gathering, { do: 'fail', fence: 2, error, retryable: true });
    for (const { admitted } of [gated, held, settled, gathering, retried]) expect(admitted).toBe(true);
    expect(after(claim(retried, start + 1_000_000), { do: 'succeed', fence: 3 }).admitted).toBe(false);
  });

  test('stays admitted while it waits for child runs and while it is retried after them', () => {
    const gated = claim(made({ gate: 'any/work//' }));
    const held = after(gated, { do: 'plan', fence, tasks: 1, details: 'null' });
    const gathering = claim(after(held, { do: 'settle' }));
    const retried = after(gathering, { do: 'fail', fence: 2, error, retryable: true });
    const lapsed = after(gathering, { do: 'lapse', fence: 2 });
    for (const { admitted } of [gated, held, gathering, retried, lapsed]) expect(admitted).toBe(true);
    expect(after(gated, { do: 'fail', fence, error, retryable: true }).admitted).toBe(false);
  });

  test('cannot succeed while children wait for it, unless that is wanted', () => {
    const parent = after(running, { do: 'adopt', fence, tasks: 1 });
    expect(told(parent, { do: 'succeed', fence })).toBe(wrong);
    expect(told(parent, { do: 'succeed', fence, despiteChildren: true })).toBe('succeeded');
    expect(told(parent, { do: 'plan', fence, tasks: 1 })).toBe('planned');
  });

  test('is opened again to wait for tasks that are opened with it', () => {
    const ended = after(waiting, { do: 'stop', code: 'user' });
    expect(after(ended, { do: 'retry', reopens: 2 })).toMatchObject({ state: 'held', hold: 'children', generation: 2 });
  });
});

test('several commands make one change, or none if one is refused', () => {
  const both = steps(made(), [{ do: 'pause' }, { do: 'resume' }], asking()) as Change;
  expect(both.events.map(({ n, kind }) => [n, kind])).toEqual([[2, 'paused'], [3, 'resumed']]);
  expect(both.after).toMatchObject({ state: 'pending', version: 3 });
  expect(isRefusal(steps(made(), [{ do: 'pause' }, { do: 'free' }], asking()))).toBe(true);
});

test('a clock that falls does not make the times of a history fall', () => {
  const paused = step(made(), { do: 'pause' }, asking(start - 10_000)) as Change;
  expect(paused.events[0]!.at).toBe(start);
});

test('jobs that change in the same way share their events, others do not', () => {
  const eventsOf = (job: Job, command: Command, by = 'worker', now = start, why?: string): readonly Event[] =>
    (step(job, command, { by, now, ...(why === undefined ? {} : { why }) }) as Change).events;
  const taking = { do: 'claim', holder: 'worker', until: null } as const;
  const [one, other] = [made({ id: 1 }), made({ id: 2 })];
  const claimed = eventsOf(one, taking);
  expect(eventsOf(other, taking)).toBe(claimed);
  expect(eventsOf(made({ id: 3 }), { ...taking, holder: 'other' })).toMatchObject([{ n: 2, holder: 'other' }]);
  expect(eventsOf(made({ id: 4 }), { ...taking, until: start + 1 })).toMatchObject([{ holder: 'worker', until: start + 1 }]);
  expect(eventsOf(made({ id: 5 }), { ...taking, knows: [1, 2] })).toMatchObject([{ knows: [1, 2] }]);

  const ending = { do: 'succeed', fence: 1, result: '1' } as const;
  const runningToo = claim(other);
  const ended = eventsOf(running, ending);
  expect(eventsOf(runningToo, { ...ending, result: '2' })).toBe(ended);
  expect(eventsOf(running, ending, 'other')).toEqual([{ n: 3, at: start, by: 'other', kind: 'succeeded' }]);
  expect(eventsOf(running, ending, 'worker', start + 5)).toEqual([{ n: 3, at: start + 5, by: 'worker', kind: 'succeeded' }]);
  expect(eventsOf(running, ending, 'worker', start, 'asked')).toMatchObject([{ why: 'asked' }]);
  const later = after(claim(after(running, { do: 'release', fence: 1 })), { do: 'adopt', tasks: 1 });
  expect(eventsOf(later, { ...ending, fence: 2, despiteChildren: true })).toMatchObject([{ n: later.version + 1 }]);
});

/** Any history: commands by any actor, at times that may jump. */
interface Asked {
  readonly name: CommandName;
  readonly waitMs: number;
  readonly isStale: boolean;
  readonly choice: number;
}

const names = [...new Set(transitions().map(([name]) => name))];
const asked: fc.Arbitrary<Asked> = fc.record({
  name: fc.constantFrom(...names, 'claim', 'claim', 'succeed', 'fail', 'retry'),
  waitMs: fc.constantFrom(0, 0, 1, 50, 5000, 600_000, -70),
  isStale: fc.nat(5).map((roll) => roll === 0),
  choice: fc.nat(5),
});
const policies: readonly Policy[] = [
  {}, { attemptsMax: 1 }, { crashesMax: 1 }, { repeat: 'FINISHED, +1 SECOND' }, { retryAfter: '+1 SECOND' },
  { baseMs: 0, attemptsMax: 50 },
];

function commandOf({ name, isStale, choice }: Asked, job: Job, now: number): Command {
  const current = isStale ? job.fence - 1 : job.fence;
  const until = choice % 2 ? now + 100 : null;
  switch (name) {
    case 'claim': return { do: name, holder: `w${choice}`, until, parentCancelled: choice === 5 };
    case 'succeed': return { do: name, fence: current, result: String(choice), ignoreRepeat: choice === 0 };
    case 'fail': return { do: name, fence: current, error, retryable: choice > 0 };
    case 'release': return { do: name, fence: current };
    case 'sleep': return { do: name, fence: current, name: 'a while', until: now + 50 * choice };
    case 'answer': return { do: name, name: 'ok', ...(choice % 2 ? { due: now } : {}) };
    case 'unanswer': return { do: name, fence: current, name: 'ok', cause: 'timeout' };
    case 'again': return { do: name, fence: current, due: now };
    case 'handOff': return { do: name, fence: current, holder: choice > 2 ? tokenHolder('t') : 'o', until };
    case 'plan': return { do: name, fence: current, tasks: choice % 3, ...(choice > 3 ? { due: now - 10 } : {}) };
    case 'adopt': return { do: name, tasks: 1 };
    case 'follow': case 'await': return { do: name, runs: 1 };
    case 'proceed': return { do: name, unsuccessful: choice % 2 };
    case 'reclaim': return { do: name, holder: `w${choice}` };
    case 'cancel': return { do: name, code: 'user', fate: choice % 2 ? 'failed' : 'cancelled', ...graceOf(choice) };
    case 'stop': return { do: name, code: 'admin' };
    case 'retry': return { do: name, reopens: choice % 2 };
    case 'requeue': return { do: name, due: now, ...(choice > 3 ? { crashes: choice - 4 } : {}) };
    case 'edit': return { do: name, edit: { priority: choice, tags: { choice: String(choice) } } };
    case 'expire': case 'settle': case 'free': case 'pause': case 'resume': case 'lapse': return { do: name };
  }
}

const graceOf = (choice: number): { graceMs?: number } => (choice > 2 ? { graceMs: choice } : {});

type Watch = (before: Job, change: Change, command: Command) => void;

/** Lives through what is asked; each job is frozen, so that a machine that changes one is found out. */
function live(asks: readonly Asked[], policy: Policy, watch: Watch = () => {}): { job: Job; events: Event[] } {
  let now = start;
  const { after: first, events: [created] } = born({ policy, gate, phase: asks.length % 2 ? 'prepare' : 'run' });
  let job = frozen(first!);
  const events = [created!];
  for (const each of asks) {
    now += each.waitMs;
    const command = commandOf(each, job, now);
    const change = step(job, command, asking(now));
    if (isRefusal(change)) continue;
    watch(job, change, command);
    events.push(...change.events);
    job = frozen(change.after!);
  }
  return { job, events };
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

const life = [fc.array(asked, { maxLength: 80 }), fc.constantFrom(...policies)] as const;

describe('in any life', () => {
  test('the history replays, its numbers have no gap, its times do not fall, and each step is legal', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      const { job, events } = live(asks, policy);
      checkHistory(job, events);
      expect({ ...replay({ ...birth, policy, gate }, events), result: job.result }).toEqual(job);
    }), { numRuns: sampleSize(2000) });
  });

  test('there is at most one end per generation, and only a hand opens a job again', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      live(asks, policy, (before, { events, after: next }, command) => {
        const ends = events.filter(({ kind }) => endings.has(kind)).length;
        expect(ends).toBeLessThanOrEqual(before.state === 'ended' ? 0 : 1);
        if (before.state !== 'ended') return expect(next!.generation).toBe(before.generation);
        expect(['retry', 'requeue', 'edit', 'follow']).toContain(command.do);
        const isReopened = command.do === 'retry' || command.do === 'requeue';
        expect(next!.generation).toBe(before.generation + (isReopened ? 1 : 0));
      });
    }), { numRuns: sampleSize(1000) });
  });

  test('a fence rises by one with each claim, and never otherwise', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      live(asks, policy, (before, { events, after: next }) => {
        const claims = events.filter(({ kind }) => kind === 'claimed').length;
        expect(next!.fence).toBe(before.fence + claims);
      });
    }), { numRuns: sampleSize(1000) });
  });

  test('who lost the lease changes nothing', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      live(asks, policy, (before, _change, command) => {
        const isFenced = 'fence' in command && command.fence !== undefined;
        if (isFenced) expect([before.state, before.fence]).toEqual(['running', command.fence]);
      });
    }), { numRuns: sampleSize(1000) });
  });

  test('a job that was asked to cancel does not succeed in that generation', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      live(asks, policy, (before, { events }) => {
        if (before.cancel) expect(events.map(({ kind }) => kind)).not.toContain('succeeded');
      });
    }), { numRuns: sampleSize(1000) });
  });

  test('counters stay in their bounds, only succeeded jobs have results, and ended jobs are not admitted', () => {
    fc.assert(fc.property(...life, (asks, policy) => {
      live(asks, policy, (_before, { after: next }) => {
        const job = next!;
        expect(job.attempt).toBeGreaterThanOrEqual(0);
        expect(job.attempt).toBeLessThanOrEqual(policy.attemptsMax ?? 3);
        expect(job.crashes).toBeLessThanOrEqual(policy.crashesMax ?? 3);
        if (job.result !== null) expect((job as EndedJob).fate).toBe('succeeded');
        if (job.state === 'ended') expect(job.admitted).toBe(false);
        if (job.state === 'running') expect(job.admitted).toBe(true);
      });
    }), { numRuns: sampleSize(1000) });
  });
});
