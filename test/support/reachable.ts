// Random jobs that the real machine can make, with every moment of their lives and the events that led there.
import fc from 'fast-check';
import type { Change } from '../../src/model/change.ts';
import type { Command, CommandName } from '../../src/model/command.ts';
import { dueOf, never, planOf, tick, wakeUp, type Definition, type Spec } from '../../src/model/definition.ts';
import type { Event, FirstState, EventBody } from '../../src/model/event.ts';
import type { JobOrigin, Job, JobError, Policy } from '../../src/model/job.ts';
import { create, record, step, transitions, type Asking } from '../../src/model/machine.ts';
import { errorCodes, kinds, terminateCodes, type Kind } from '../../src/model/state.ts';
import { isRefusal } from '../../src/refusal.ts';
import { cron, every, type Schedule } from '../../src/time/schedule.ts';

export interface Reached {
  readonly birth: JobOrigin;
  /** As it is in the end, and all its events. */
  readonly job: Job;
  readonly events: readonly Event[];
  /** From its creation to the end, the job and all its events so far; a command that was refused makes a moment too. */
  readonly moments: readonly Moment[];
}

export interface Moment {
  readonly job: Job;
  readonly events: readonly Event[];
}

export interface ReachOptions {
  readonly kinds?: readonly Kind[];
  readonly stepsMax?: number;
}

/** When every random job is born. */
export const bornAt = Date.UTC(2026, 2, 1, 12);

export const reachable = ({ kinds: of = kinds, stepsMax = 25 }: ReachOptions = {}): fc.Arbitrary<Reached> =>
  fc.constantFrom(...of).chain((kind) =>
    fc
      .tuple(
        kind === 'def' ? someDefinition : someBirth(kind),
        fc.array(someWish, { maxLength: stepsMax, size: 'max' }),
      )
      .map(([born, wishes]) => live(born, wishes)),
  );

interface Born {
  readonly birth: JobOrigin;
  readonly first: FirstState;
}

/** What to try next, whatever the job is then. */
interface Wish {
  readonly pick: number;
  /** Not only what the machine's table has for the state, nor only at a good time. */
  readonly isWild: boolean;
  readonly waitMs: number;
  readonly count: number;
  readonly flag: boolean;
  readonly code: (typeof terminateCodes)[number];
  readonly error: JobError;
  readonly why: string | undefined;
}

const someError: fc.Arbitrary<JobError> = fc.record(
  {
    code: fc.constantFrom(...errorCodes),
    message: fc.constantFrom('no', 'it broke'),
    data: fc.constantFrom(null, { a: 1 }),
  },
  { requiredKeys: ['code', 'message'] },
);

const someWish: fc.Arbitrary<Wish> = fc.record({
  pick: fc.nat(1000),
  isWild: fc.nat(9).map((n) => n === 9),
  waitMs: fc.constantFrom(0, 1, 1_000, 90_000, 86_400_000),
  count: fc.nat(2),
  flag: fc.boolean(),
  code: fc.constantFrom(...terminateCodes),
  error: someError,
  why: fc.constantFrom(undefined, 'because'),
});

const somePolicy: fc.Arbitrary<Policy> = fc.record(
  {
    attemptsMax: fc.integer({ min: 1, max: 3 }),
    crashesMax: fc.nat(2),
    repeat: fc.constantFrom('FINISHED, +1 HOUR', 'SCHEDULED, +1 DAY', 'STARTED, +10 MINUTES'),
    retryAfter: fc.constantFrom('+5 MINUTES', '+1 DAY, START OF DAY'),
    startBy: fc.constantFrom(bornAt, bornAt + 86_400_000),
  },
  { requiredKeys: [] },
);

const someBirth = (kind: Kind): fc.Arbitrary<Born> =>
  fc
    .record({ policy: somePolicy, gate: fc.constantFrom(null, 'any/mail'), first: someFirstState(kind) })
    .map(({ first, ...rest }) => ({ birth: { ...birthOf(kind, '{"to":"x"}'), ...rest, ...followsOf(first) }, first }));

const followsOf = ({ hold }: FirstState): Pick<JobOrigin, 'follows'> =>
  ({ follows: hold === 'runs' ? { on: 'succeeded', otherwise: 'cancel' } : null });

const someFirstState = (kind: Kind): fc.Arbitrary<FirstState> =>
  fc.record(
    {
      due: fc.constantFrom(bornAt, bornAt + 3_600_000),
      priority: fc.constantFrom(0, 500),
      phase: kind === 'run' ? fc.constantFrom('run', 'prepare', 'prepare', 'gather') : fc.constant('run'),
      hold: fc.constantFrom('pause', 'parent', 'children', 'runs'),
    },
    { requiredKeys: ['due', 'priority', 'phase'] },
  );

const someSchedule: fc.Arbitrary<Schedule> = fc.constantFrom(
  cron('30 2 * * *'), every('15m'), every('1h', { from: 'finished' }), every('1h', { from: 'started' }),
);

const someDefinition: fc.Arbitrary<Born> = fc
  .record({
    schedules: fc.array(someSchedule, { maxLength: 2 }),
    overlap: fc.constantFrom('allow', 'skip'),
    isEnabled: fc.boolean(),
  })
  .map(({ schedules, overlap, isEnabled }) => {
    const definition: Definition = { code: { ...plainSpec, schedules, overlap }, override: null };
    const plan = planOf('mail', definition.code, bornAt);
    const hold = isEnabled ? {} : ({ hold: 'pause' } as const);
    const first = { due: dueOf(plan), priority: 0, plan, ...hold };
    return { birth: birthOf('def', JSON.stringify(definition)), first };
  });

const plainSpec: Spec = {
  type: 'mail',
  params: null,
  schedules: [],
  policy: {},
  priority: 0,
  overlap: 'allow',
  misfire: { policy: 'once', windowMs: 3_600_000, cap: 10 },
  onePerType: false,
  inMemory: false,
  manualRuns: true,
  tags: null,
  phase: 'run',
  gate: null,
  limitKey: null,
};

const birthOf = (kind: Kind, input: string): JobOrigin => ({
  id: 7,
  kind,
  type: 'mail',
  def: kind === 'def' ? 'mail' : null,
  parent: kind === 'task' ? 1 : null,
  key: null,
  created: bornAt,
  gate: null,
  unique: null,
  policy: {},
  tags: null,
  input,
  tick: null,
  follows: null, typeVersion: 1,
});

function live({ birth, first }: Born, wishes: readonly Wish[]): Reached {
  const birthday = create(birth, first, { by: 'producer', now: bornAt });
  const moments: Moment[] = [{ job: birthday.after!, events: birthday.events }];
  let now = bornAt;
  for (const wish of wishes) {
    const { job, events } = moments.at(-1)!;
    now = Math.max(now, momentFor(wish, job, now + wish.waitMs));
    const why = wish.why === undefined ? {} : { why: wish.why };
    const change = grant(wish, job, { by: `worker ${wish.count}`, now, ...why });
    moments.push(change === null ? { job, events } : { job: change.after!, events: [...events, ...change.events] });
  }
  return { birth, ...moments.at(-1)!, moments };
}

/** The change that was wished for; null: it was refused. */
function grant(wish: Wish, job: Job, asking: Asking): Change | null {
  if (job.kind === 'def' && wish.flag) return record(job, happeningsTo(job, wish, asking.now), asking);
  const answer = step(job, makers[nameOf(wish, job)](wish, job, asking.now), asking);
  return isRefusal(answer) ? null : answer;
}

/** What the door lets happen to definitions: they are switched off and on, and answer their ticks. */
function happeningsTo(def: Job, { pick, count, isWild }: Wish, now: number): readonly EventBody[] {
  const { code: spec } = JSON.parse(def.input) as Definition;
  if (def.state === 'held' && def.hold === 'pause') {
    const woken = wakeUp(def, spec, now) as Extract<EventBody, { kind: 'ticked' }>;
    return [woken, { kind: 'resumed', due: woken.due }];
  }
  if (def.state !== 'pending') return [];
  if (isWild) return [{ kind: 'paused' }];
  return [tick(def, spec, { now, ids: idsFrom(pick), isBusy: count > 0, runs: new Map() }).event];
}

const idsFrom = (first: number): number[] => Array.from({ length: 50 }, (_, index) => 1000 + first + index);

const legalNames = (job: Job): CommandName[] =>
  transitions().flatMap(([name, state]) => (state === job.state ? [name] : []));
const allNames = [...new Set(transitions().map(([name]) => name))];

function nameOf({ pick, isWild }: Wish, job: Job): CommandName {
  const names = isWild ? allNames : legalNames(job);
  return names[pick % names.length]!;
}

/** Waits until something can happen: the job is due, or its lease is over. */
function momentFor(wish: Wish, job: Job, now: number): number {
  if (wish.isWild || job.due === never) return now;
  if (job.state === 'pending') return Math.max(now, job.due);
  return job.state === 'running' && nameOf(wish, job) === 'lapse' ? Math.max(now, job.lease.until ?? now) : now;
}

const fenceOf = ({ isWild, count }: Wish, job: Job): number => (isWild ? job.fence - count : job.fence);

const makers: { readonly [N in CommandName]: (wish: Wish, job: Job, now: number) => Extract<Command, { do: N }> } = {
  claim: ({ flag, count, isWild }, _job, now) => ({
    do: 'claim',
    holder: `worker ${count}`,
    until: flag ? now + 30_000 : null,
    ...(isWild ? { parentCancelled: true } : {}),
  }),
  succeed: (wish, job) => ({ do: 'succeed', fence: fenceOf(wish, job), result: '{"n":1}', ignoreRepeat: wish.flag }),
  fail: (wish, job) => ({ do: 'fail', fence: fenceOf(wish, job), error: wish.error, retryable: wish.flag }),
  release: (wish, job) => ({ do: 'release', fence: fenceOf(wish, job) }),
  sleep: (wish, job, now) => ({ do: 'sleep', fence: fenceOf(wish, job), name: 'a while', until: now + 1_000 }),
  answer: (wish, _job, now) => ({ do: 'answer', name: 'ok', ...(wish.flag ? { due: now } : {}) }),
  unanswer: (wish, job) => ({ do: 'unanswer', fence: fenceOf(wish, job), name: 'ok', cause: 'timeout' }),
  again: (wish, job, now) => ({ do: 'again', fence: fenceOf(wish, job), due: now + 1_000 }),
  handOff: (wish, job, now) => ({
    do: 'handOff',
    fence: fenceOf(wish, job),
    holder: 'outside',
    until: wish.flag ? now + 60_000 : null,
  }),
  plan: (wish, job) => ({ do: 'plan', fence: fenceOf(wish, job), tasks: wish.count, details: '{"of":2}' }),
  reclaim: ({ count }) => ({ do: 'reclaim', holder: `worker ${count}` }),
  adopt: ({ count }) => ({ do: 'adopt', tasks: count + 1 }),
  expire: () => ({ do: 'expire' }),
  settle: () => ({ do: 'settle' }),
  free: () => ({ do: 'free' }),
  follow: ({ count }) => ({ do: 'follow', runs: count + 1 }),
  proceed: ({ count }) => ({ do: 'proceed', unsuccessful: count }),
  await: ({ count }) => ({ do: 'await', runs: count + 1 }),
  pause: () => ({ do: 'pause' }),
  resume: () => ({ do: 'resume' }),
  cancel: ({ code, flag, count }) => ({
    do: 'cancel',
    code,
    ...(flag ? { fate: 'failed' as const } : {}),
    ...(count === 0 ? {} : { graceMs: count * 1_000 }),
  }),
  stop: ({ code }) => ({ do: 'stop', code }),
  lapse: () => ({ do: 'lapse' }),
  retry: ({ count }) => ({ do: 'retry', reopens: count }),
  requeue: (_wish, _job, now) => ({ do: 'requeue', due: now }),
  edit: ({ flag, count }, job, now) => ({
    do: 'edit',
    edit: [
      { priority: 900 }, { due: now + 1_000 }, { policy: flag ? { retryAfter: '+5 MINUTES' } : job.policy },
    ][count]!,
  }),
};
