/**
 * Explains why a job is not running. For a pending job, returns each of the known reasons that applies, in order of
 * importance; for another job, one reason, which follows from its state.
 */
import type { Jobs } from '../../jobs.ts';
import { questionOf } from '../../jobs/answer.ts';
import { readTypes } from '../../jobs/catalogue.ts';
import { parseGate, GateAdmissions, type Limits } from '../../model/gate.ts';
import type { Job, PendingJob } from '../../model/job.ts';
import { readPauses } from '../../jobs/pauses.ts';
import { readLimitSpreads } from '../../jobs/spreads.ts';
import { contentOf, isPausable, pauseOf, type Pause } from '../../model/pause.ts';
import { spreadReason } from './spread-reason.ts';
import { knowsVersion, versionsOf } from '../../model/type-version.ts';
import { isLive, type Instance, type Store } from '../../store/store.ts';
import { openStandings } from '../../store/query.ts';
import { fairnessReason } from './fairness-reason.ts';
import { sleepOf } from '../../jobs/latest-sleep.ts';
import { namedLimitReasons } from './named-limit-reasons.ts';
import type { Reason } from './reason.ts';

export async function explain(jobs: Jobs, job: Job, limits: Limits): Promise<readonly Reason[]> {
  switch (job.state) {
    case 'ended':
      return [{ code: 'ended', says: `it has ended: ${job.fate}` }];
    case 'running':
      return [(await gatheringReason(jobs, job)) ?? running(job)];
    case 'held':
      return [await heldReason(jobs, job)];
    case 'pending':
      return pendingReasons(jobs, job, limits);
  }
}

const running = ({ lease, fence }: Extract<Job, { state: 'running' }>): Reason => ({
  code: 'running',
  says: `it is running, claimed by ${lease.holder}`,
  detail: { ...lease, fence },
});

/** Returns a reason while a claimed job may still wait for others of its batch; null: its handler has been called. */
async function gatheringReason({ store }: Jobs, job: Extract<Job, { state: 'running' }>): Promise<Reason | null> {
  if (job.policy.batchMax === undefined || job.details !== null) return null;
  const { batch } = (await readTypes(store, [job.type])).get(job.type) ?? {};
  if (batch === undefined || batch.waitMs === 0) return null;
  const claimedAt = (await store.history(job.id)).findLast(({ kind }) => kind === 'claimed')?.at ?? -Infinity;
  const { startBy = Infinity } = job.policy;
  const until = Math.min(claimedAt + batch.waitMs, startBy < claimedAt ? Infinity : startBy);
  if (store.now() >= until) return null;
  const by = new Date(until).toISOString();
  return {
    code: 'batch.gathering',
    says: `${job.lease.holder} gathers its batch, which starts with ${batch.size} jobs or at ${by}, whichever is first`,
    detail: { holder: job.lease.holder, size: batch.size, until },
  };
}

async function heldReason(jobs: Jobs, job: Extract<Job, { state: 'held' }>): Promise<Reason> {
  if (job.hold === 'pause') return { code: 'paused', says: 'it is paused: resume it' };
  if (job.hold === 'runs') return runsReason(jobs, job);
  const { id, parent } = job;
  if (job.hold === 'parent') {
    return { code: 'waits.parent', says: `it waits for its parent, job ${parent}`, detail: { parent } };
  }
  const tallies = await jobs.count({ parent: id, standings: openStandings });
  const open = tallies.reduce((sum, tally) => sum + tally.count, 0);
  const what = job.phase === 'run' && job.details !== null ? 'child run' : 'task';
  return { code: 'waits.children', says: `it waits for ${open} open ${what}${open === 1 ? '' : 's'}`, detail: { open } };
}

/** How many open runs are read to explain what a run waits for. */
const followedShown = 20;
/** How many of them are in the sentence: first those that failed, then those that are not running. */
const followedNamed = 3;
const edgePage = 1000;

async function runsReason({ store }: Jobs, { id }: Job): Promise<Reason> {
  const { open, ...ends } = (await store.tallyEdges([id])).get(id)!;
  const total = open + ends.succeeded + ends.failed + ends.cancelled;
  const unsuccessful = ends.failed + ends.cancelled;
  const detail = { open, total, unsuccessful };
  if (open === 0) {
    const runs = await unsuccessfulRuns(store, id);
    const names = new Map((await store.load(runs)).map((run) => [run.id, nameOf(run)]));
    const all = runs.map((run) => names.get(run) ?? `${run}`).join(', ');
    const named = `${runs.length === 1 ? 'run' : 'runs'} ${all}${runs.length < unsuccessful ? ', …' : ''}`;
    const says = `it waits until ${unsuccessful} of ${runsText(total)} that did not succeed are retried and succeed: ` +
      `retry ${named}`;
    return { code: 'waits.runs', says, detail: { ...detail, runs } };
  }
  const edges = await store.edges({ follower: id, limit: followedShown, isOpen: true });
  const runs = (await store.load(edges.map(({ followed }) => followed))).toSorted((a, b) => a.id - b.id);
  const now = store.now();
  const shown = runs.toSorted((a, b) => urgencyOf(b) - urgencyOf(a)).slice(0, followedNamed);
  const text = shown.map((run) => `run ${nameOf(run)} ${standOf(run, now)}`).join(', ');
  const says = `it waits for ${open} of ${runsText(total)}${text === '' ? '' : `: ${text}`}${shown.length < open ? ', …' : ''}`;
  return { code: 'waits.runs', says, detail: { ...detail, runs: runs.map((run) => run.id), standings: runs.map(standingOf) } };
}

const urgencyOf = ({ error, state }: Job): number => (error !== null ? 2 : state === 'running' ? 0 : 1);

const nameOf = ({ id, def, type }: Job): string => `${id} (${def ?? type})`;

const standingOf = (job: Job): object => {
  const { id, def, type, state } = job;
  return { id, def, type, state, retryAt: isToBeRetried(job) ? job.due : null };
};

/** The ids of the first runs that a run follows and that failed or were cancelled. */
async function unsuccessfulRuns(store: Store, follower: number): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let after = 0; ; ) {
    const edges = await store.edges({ follower, after, limit: edgePage });
    ids.push(...edges.filter(({ outcome }) => outcome !== 'succeeded').map(({ followed }) => followed));
    if (ids.length >= followedShown || edges.length < edgePage) return ids.slice(0, followedShown);
    after = edges.at(-1)!.followed;
  }
}

const runsText = (count: number): string => (count === 1 ? '1 run' : `${count} runs`);

const isToBeRetried = ({ error, state }: Job): boolean => error !== null && state === 'pending';

const holdTexts = {
  pause: 'is paused', runs: 'waits for runs', parent: 'waits for its parent', children: 'waits for its tasks or children',
} as const;

function standOf(job: Job, now: number): string {
  const { due } = job;
  if (isToBeRetried(job)) return `failed, retry at ${new Date(due).toISOString()}`;
  if (job.state === 'pending' && due > now) return `is due at ${new Date(due).toISOString()}`;
  return job.state === 'held' ? holdTexts[job.hold] : `is ${job.state}`;
}

async function pendingReasons(jobs: Jobs, job: PendingJob, limits: Limits): Promise<readonly Reason[]> {
  const { store } = jobs;
  const now = store.now();
  const live = (await store.instances()).filter((each) => isLive(each, now));
  const typed = live.filter(({ about }) => about.types.includes(job.type));
  const able = typed.filter(({ about }) => knowsVersion(about.versions ?? [], job.type, job.typeVersion));
  const reasons = [
    ...(job.due > now ? await notDueReasons(store, job, now) : []),
    await parentReason(jobs, job),
    ...(await pauseReasons(jobs, job)),
    typed.length === 0 ? unknownType(job) : null,
    typed.length > 0 && able.length === 0 ? unknownVersion(job, typed) : null,
    able.length > 0 && able.every(({ about }) => about.draining) ? allSuspended(able) : null,
    await gateReason(jobs, job, limits, able),
    ...(await namedReasons(jobs, job)),
    able.length > 0 && able.every(({ about }) => about.busy >= about.slots) ? allBusy(able) : null,
    await fairnessReason(store, job),
  ].filter((reason) => reason !== null);
  return reasons.length > 0 ? reasons : [aboutToRun];
}

const aboutToRun: Reason = {
  code: 'about.to.run',
  says: 'nothing prevents it from running: it is about to be claimed',
};

const notDue = (due: number, now: number): Reason => ({
  code: 'not.due',
  says: `it is due at ${new Date(due).toISOString()}, in ${Math.ceil((due - now) / 1000)} s`,
  detail: { due },
});

/** The reasons of a job that is due later: its handler sleeps, or its due time, also if that is after the sleep. */
async function notDueReasons(store: Store, job: PendingJob, now: number): Promise<readonly Reason[]> {
  const slept = await sleepOf(store, job);
  if (slept === null || slept.due <= now) return [notDue(job.due, now)];
  if (slept.waits) return [await answerReason(store, job)];
  // An earlier due time does not shorten the sleep.
  const says = `its handler sleeps (${slept.name}) until ${new Date(slept.due).toISOString()}`;
  const sleeping: Reason = { code: 'sleeping', says, detail: { name: slept.name, until: slept.due } };
  return job.due > slept.due ? [sleeping, notDue(job.due, now)] : [sleeping];
}

/** How many of its questions explain why a job waits. */
const questionsShown = 5;

async function answerReason(store: Store, { id }: PendingJob): Promise<Reason> {
  const waits = (await store.openWaits({ job: id, name: '' }, questionsShown)).filter(({ job }) => job === id);
  const questions = waits.map((wait) => {
    const { ask, role, until } = questionOf(wait);
    return { name: wait.name, ask, role, until };
  });
  const shown = questions.map(({ name, ask, role, until }) => JSON.stringify(name) + (ask === null ? '' : ` (${ask})`) +
    `, from the role ${role}` + (until === null ? '' : `, until ${new Date(until).toISOString()}`));
  return { code: 'waits.answer', says: `it waits for an answer to ${shown.join('; ')}`, detail: { questions } };
}

const unknownType = ({ type }: Job): Reason => ({
  code: 'type.unknown',
  says: `no live instance has the job type ${type}: start one that has it`,
  detail: { type },
});

const unknownVersion = ({ type, typeVersion, def }: Job, typed: readonly Instance[]): Reason => ({
  code: 'version.unknown',
  says: `no live instance knows version ${typeVersion} of the job type ${type}: start one whose code knows it` +
    (def === null ? '' : `; if the parameters of definition ${def} have this version, set them again for its next runs`),
  detail: {
    type,
    version: typeVersion,
    instances: typed.map(({ id, about }) => {
      const { from, to } = versionsOf(about.versions ?? [], type);
      return { id, from, to };
    }),
  },
});

const allSuspended = (able: readonly Instance[]): Reason => ({
  code: 'suspended',
  says: able.length === 1
    ? 'the only instance with its type is suspended: resume it'
    : `all ${able.length} instances with its type are suspended: resume one`,
  detail: { instances: able.map(({ id }) => id) },
});

const allBusy = (able: readonly Instance[]): Reason => ({
  code: 'slots.busy',
  says: `all slots of the ${able.length === 1 ? 'only instance' : `${able.length} instances`} with its type are busy`,
  detail: { instances: able.map(({ id, about }) => ({ id, slots: about.slots, busy: about.busy })) },
});

async function pauseReasons({ store }: Jobs, job: PendingJob): Promise<Reason[]> {
  const { kind, type, gate, admitted } = job;
  if (!isPausable(kind)) return [];
  const { key = null, uses = [] } = gate === null || admitted ? {} : parseGate(gate);
  const targets = [{ type, key: null }, ...(key === null ? [] : [{ type, key }])];
  const ofTarget = (await readPauses(store, targets)).flatMap((record) => {
    const { spread } = contentOf(record);
    const pause = pauseOf(record);
    return spread ? spreadReason(job, targetText(pause), spread, store.now()) : pauseReason(pause);
  });
  const ofLimits = (await readLimitSpreads(store, uses.map(({ name }) => name))).entries()
    .map(([name, spread]) => spreadReason(job, `its limit ${name}`, spread, store.now()));
  return [...ofTarget, ...ofLimits].filter((reason) => reason !== null);
}

function pauseReason(pause: Pause): Reason {
  const { key, by, why, until } = pause;
  const end = until === null ? '' : ` until ${new Date(until).toISOString()}`;
  const says = `${targetText(pause)} is paused${end} by ${by}${why === null ? '' : `: ${why}`}`;
  return { code: key === null ? 'paused.type' : 'paused.key', says, detail: { ...pause } };
}

const targetText = ({ type, key }: Pause): string =>
  (key === null ? `its type ${type}` : `its key ${JSON.stringify(key)} of the type ${type}`);

async function parentReason(jobs: Jobs, job: Job): Promise<Reason | null> {
  const [parent] = job.parent === null ? [] : await jobs.store.load([job.parent]);
  if (!parent?.cancel) return null;
  const { id } = parent;
  return { code: 'parent.cancelled', says: `its run ${id} was cancelled`, detail: { parent: id } };
}

async function gateReason(
  jobs: Jobs,
  job: PendingJob,
  limits: Limits,
  able: readonly Instance[],
): Promise<Reason | null> {
  if (job.gate === null || job.admitted) return null;
  const gate = parseGate(job.gate);
  const admitted = await jobs.store.admittedPerGate([job.type]);
  if (new GateAdmissions(admitted, limits, true).room(job.gate) > 0) {
    return gate.leaderOnly ? leaderOnly(able) : null;
  }
  const { type, kind } = job;
  const running = await jobs.find({ types: [type], kinds: [kind], standings: ['running', 'held'] }, { limit: 20 });
  const holders = running.jobs.filter((other) => other.admitted).map(({ id }) => id);
  const says = `its limit is reached: in use by ${holders.map((id) => `job ${id}`).join(', ')}`;
  return { code: 'limit.full', says, detail: { gate, holders } };
}

async function namedReasons({ store }: Jobs, { gate, admitted, due }: PendingJob): Promise<readonly Reason[]> {
  if (gate === null || admitted || due > store.now()) return [];
  return namedLimitReasons(store, parseGate(gate).uses ?? []);
}

const leaderOnly = (able: readonly Instance[]): Reason => ({
  code: 'leader.only',
  says: 'only the leader may run it',
  detail: { able: able.map(({ id }) => id) },
});
