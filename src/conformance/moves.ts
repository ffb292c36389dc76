/** The moves of random histories: each does one thing that an engine, an operator or a fault may do to a store. */
import type { Change } from '../model/change.ts';
import type { Command } from '../model/command.ts';
import { gateText, type Limits } from '../model/gate.ts';
import { isOpen, type Job, type Policy } from '../model/job.ts';
import { step } from '../model/machine.ts';
import { kinds } from '../model/state.ts';
import { Refusal } from '../refusal.ts';
import { standings, type Query } from '../store/query.ts';
import type { ClaimRequest, ClaimDecision, TypeNames } from '../store/store.ts';
import type { Dice } from './dice.ts';
import { describe, shareTypes as types, tallyMap, type Share } from './share.ts';
import { byId } from './same.ts';
import { childOf, removal, type JobSpec } from './world.ts';

/**
 * Makes one move. The number `who` selects a job; the dice decide everything else. With seed 0 (see Dice), a move is as
 * simple as possible, so that a failing history shrinks to simple moves.
 */
export type Move = (share: Share, who: number, dice: Dice) => Promise<void>;

const error = { code: 'unknown', message: 'it failed' } as const;
const keys = ['k', 'l', "k'"];
const tenants = [null, 'x', 'y'];
const defs = ['nightly', 'daily'];

const policies: readonly Policy[] = [
  {}, { attemptsMax: 1 }, { retentionMs: 50 }, { crashesMax: 0 }, { baseMs: 0, jitter: 0 },
  { repeat: 'FINISHED, +1 SECOND' },
  { repeat: 'SCHEDULED, +1 MINUTE', retryAfter: '+5 SECONDS' }, { retryAfter: '+1 SECOND', retentionMs: 5000 },
];

const inputs = ['{}', '{"n":1}', '"it\'s"', '[1,{"ü":"\\u0000"}]', '{"n":"1","text":"100%_"}'];

function spec(share: Share, dice: Dice): JobSpec {
  const type = share.own(dice.pick(types));
  const def = dice.pick([null, ...defs.map((name) => share.own(name))]);
  const kind = dice.pick(kinds);
  const gate = dice.oneIn(3) ? { type, def, key: dice.pick(tenants), leaderOnly: dice.oneIn(6) } : null;
  return {
    type,
    kind,
    def,
    due: share.now() + dice.pick([0, 0, -5, 1, 20, 500, 10_000]),
    priority: dice.pick([0, 0, 1, -1]),
    gate: gate && gateText(gate),
    policy: dice.pick(policies),
    input: dice.pick(inputs),
    tags: dice.pick([null, null, { tenant: 'x' }, { tenant: 'ü', "it's": '%' }]),
    // A pause has no key: `purge` deletes an open pause, and stores need not look for its key.
    ...(dice.oneIn(3) && kind !== 'pause' ? { unique: { key: share.own(dice.pick(keys)), forMs: dice.pick([null, null, 40, 3000]) } } : {}),
    ...(dice.oneIn(4) ? { phase: 'prepare' as const } : {}),
    ...(dice.oneIn(6) ? { hold: dice.pick(['pause', 'parent'] as const) } : {}),
  };
}

const create: Move = async (share, _who, dice) => {
  await share.commit('create', [share.newJob(spec(share, dice))]);
};

const createMany: Move = async (share, who, dice) => {
  const changes = Array.from({ length: 2 + dice.roll(4) }, () => share.newJob(spec(share, dice)));
  if (dice.oneIn(4)) {
    const taken = await pickJob(share, who);
    if (taken) changes.push(share.newJob({ ...spec(share, dice), id: taken.id }));
  }
  await share.commit('create many', changes, { whole: dice.oneIn(2) });
};

const createChild: Move = async (share, who, dice) => {
  const parent = await pickJob(share, who);
  if (parent) {
    await share.commit('create a child', [share.newJob({ ...spec(share, dice), ...ownChild(share, parent) })]);
  }
};

const claim: Move = async (share, who, dice) => {
  const request = claimRequest(share, dice);
  const [holder, leaseMs] = [share.own(`worker ${who % 2}`), dice.pick([60_000, 1000, 10, null])];
  share.record(`claim ${JSON.stringify(request, (_, value: unknown) => (value instanceof Map ? [...value] : value))}`);
  const decide = starting(holder, leaseMs);
  share.remember(await share.agree('claim', (store) => store.claim(request, decide), (changes) => byId(changes.map(flat))));
};

function claimRequest(share: Share, dice: Dice): ClaimRequest {
  const exact = types.filter(() => !dice.oneIn(3)).map((type) => share.own(type));
  const names: TypeNames = dice.oneIn(3) ? { glob: share.own(dice.pick(['*', '[ab]', '?'])) } : { exact };
  const limits: Limits = {
    types: new Map(types.filter(() => dice.oneIn(3)).map((type) => [share.own(type), dice.roll(3)])),
    defs: new Map(dice.oneIn(3) ? [[share.own('nightly'), 1]] : []),
    keys: new Map(dice.oneIn(3) ? [[share.own('a'), 1]] : []),
  };
  return {
    kinds: dice.oneIn(4) ? kinds.filter(() => dice.oneIn(2)) : kinds,
    names,
    limit: 3 - dice.roll(3),
    ...(dice.oneIn(2) ? { limits } : {}),
    ...(dice.oneIn(3) ? { isLeader: true } : {}),
    ...(dice.oneIn(6) ? { priorities: [0, 1] } : {}),
  };
}

const starting = (holder: string, leaseMs: number | null): ClaimDecision => (candidates, now) =>
  candidates.flatMap(({ job, parentCancelled }) => {
    const until = leaseMs === null ? null : now + leaseMs;
    const change = step(job, { do: 'claim', holder, until, parentCancelled }, { by: holder, now });
    return change instanceof Refusal ? [] : [change];
  });

const finish: Move = async (share, who, dice) => {
  const job = await pickJob(share, who, ({ state }) => state === 'running');
  if (!job) return;
  const { fence } = job;
  const command = dice.pick<Command>([
    { do: 'succeed', fence, result: '{"done":true}' },
    { do: 'fail', fence, error, retryable: true },
    { do: 'fail', fence, error: { ...error, data: [1] }, retryable: false },
    { do: 'fail', fence, error, retryable: true, retryAt: share.now() + 7 },
    { do: 'release', fence },
    { do: 'release', fence, due: share.now() + 30 },
    { do: 'again', fence, due: share.now() + 3 },
    { do: 'sleep', fence, name: 'a while', until: share.now() + 20 },
    { do: 'handOff', fence, holder: share.own('outside'), until: dice.pick([null, share.now() + 100]) },
    { do: 'succeed', fence, ignoreRepeat: true },
  ]);
  await share.commit(command.do, share.decide(job, command));
};

const operate: Move = async (share, who, dice) => {
  const job = await pickJob(share, who);
  if (job) await commitSome(share, 'operate', share.decide(job, anyCommand(share, job, dice)));
};

/** Returns a random command, which the machine may refuse in the state of the job. */
function anyCommand(share: Share, { fence }: Job, dice: Dice): Command {
  const [priority, due] = [dice.roll(4), share.now() + dice.roll(100)];
  const edit = { priority, due, input: dice.pick(inputs), tags: { edited: "it's" } };
  return dice.pick<Command>([
    { do: 'stop', code: 'admin' },
    { do: 'retry', reopens: dice.roll(2) },
    { do: 'pause' },
    { do: 'resume' },
    { do: 'cancel', code: 'user' },
    { do: 'cancel', code: 'automation', graceMs: dice.roll(500), fate: 'failed' },
    { do: 'requeue', due: share.now() + dice.roll(50) },
    { do: 'edit', edit },
    { do: 'edit', edit: { type: share.own(dice.pick(types)), policy: dice.pick(policies) } },
    { do: 'free' },
    { do: 'settle' },
    { do: 'lapse' },
    { do: 'reclaim', holder: share.own('late') },
    { do: 'succeed', fence },
  ]);
}

/** Plans tasks of a running job. Some tasks are staged first; the commit of the command `plan` inserts the rest. */
const plan: Move = async (share, who, dice) => {
  const job = await pickJob(share, who, ({ state }) => state === 'running');
  if (!job) return;
  const tasks = Array.from({ length: dice.roll(4) }, () => share.newJob(taskSpec(share, job, dice)));
  const planned = share.decide(job, { do: 'plan', fence: job.fence, tasks: tasks.length, details: '{"shared":1}' });
  const stagedCount = dice.roll(tasks.length + 1);
  const staged = { parent: job.id, fence: job.fence };
  if (stagedCount > 0) {
    share.record(`stage under ${job.id}: ${tasks.slice(0, stagedCount).map(describe).join('; ')}`);
    await share.agree('stageChildren', (store) => store.stageChildren(job.id, job.fence, tasks.slice(0, stagedCount)));
  }
  const changes = [...planned, ...tasks.slice(stagedCount), ...(dice.oneIn(5) ? staleChanges(share, who, dice) : [])];
  await share.commit('plan', distinct(changes), { whole: true, staged });
};

/**
 * Returns random fields for a task. A unique key has no period here, because stores may differ if the period expires
 * while the task is staged.
 */
function taskSpec(share: Share, run: Job, dice: Dice): JobSpec {
  const { unique, ...rest } = spec(share, dice);
  return { ...rest, ...ownChild(share, run), ...(unique ? { unique: { ...unique, forMs: null } } : {}) };
}

const adopt: Move = async (share, who, dice) => {
  const mayAdopt = (job: Job): boolean => job.state === 'running' || (job.state === 'held' && job.hold === 'children');
  const parent = await pickJob(share, who, mayAdopt);
  if (!parent) return;
  const child = share.newJob({ ...spec(share, dice), ...ownChild(share, parent), hold: 'parent' });
  await share.commit('adopt', [...share.decide(parent, { do: 'adopt', tasks: 1 }), child], { whole: true });
};

const settle: Move = async (share, who, dice) => {
  const waiting = await pickJob(share, who, (job) => job.state === 'held' && job.hold === 'children');
  const isEnding = waiting !== undefined && dice.oneIn(2);
  const children = await share.jobs((job) => isEnding && job.parent === waiting.id && isOpen(job));
  await commitSome(share, 'end children', children.flatMap((job) => share.decide(job, { do: 'stop', code: 'admin' })));
  const parents = dice.oneIn(2) ? (await share.jobs()).map(({ id }) => id) : undefined;
  const ready = await share.agree('settleable', (store) =>
    store.settleable(10_000, parents), (jobs) => share.mine(jobs));
  await commitSome(share, 'settle', ready.flatMap((job) => share.decide(job, { do: 'settle' })));
};

const repair: Move = async (share) => {
  const lapsed = await share.agree('lapsed', (store) => store.lapsed(10_000), (jobs) => share.mine(jobs));
  await commitSome(share, 'repair', lapsed.flatMap((job) => share.decide(job, { do: 'lapse' })));
};

/** Commits changes that were decided on an old version of a job. */
const comeLate: Move = async (share, who, dice) => commitSome(share, 'come late', staleChanges(share, who, dice));

function staleChanges(share: Share, who: number, dice: Dice): Change[] {
  const job = share.earlierJobs[who % Math.max(1, share.earlierJobs.length)];
  if (!job) return [];
  return dice.oneIn(5) ? [removal(job)] : share.decide(job, anyCommand(share, job, dice));
}

/**
 * Commits several changes in one batch. Changes that end jobs come first, because later changes may need the unique
 * keys of the ended jobs.
 */
const batchMove: Move = async (share, who, dice) => {
  const jobs = await share.jobs();
  const chosen = jobs.filter((_, index) => (index + who) % 3 === 0).slice(0, 5);
  const changes: Change[] = chosen.flatMap((job) => share.decide(job, anyCommand(share, job, dice)));
  if (dice.oneIn(3)) changes.push(...staleChanges(share, who, dice).filter(({ after }) => after !== null));
  changes.sort((a, b) => Number(b.after?.state === 'ended') - Number(a.after?.state === 'ended'));
  changes.push(...Array.from({ length: dice.roll(3) }, () => share.newJob(spec(share, dice))));
  await commitSome(share, 'batch', distinct(changes), dice.oneIn(2));
};

const remove: Move = async (share, who, dice) => {
  const job = await pickJob(share, who, ({ state }) => state === 'ended' || dice.oneIn(3));
  if (job) await share.commit('remove', [removal(job)]);
};

const extend: Move = async (share, _who, dice) => {
  const running = await share.jobs(({ state }) => state === 'running');
  const holdings = running.map(({ id, fence }) => ({ id, fence: fence - (dice.oneIn(4) ? 1 : 0) }));
  const until = share.now() + dice.pick([1000, 5, 90_000]);
  share.record(`extend ${JSON.stringify(holdings)} until ${until}`);
  await share.agree('extend', (store) => store.extend(holdings, until));
};

/** Reads a job and extends its lease. Then commits a change that was decided from the job as it was before that. */
const overtake: Move = async (share, who, dice) => {
  const seen = await pickJob(share, who, ({ state }) => state === 'running');
  if (!seen) return;
  share.record(`extend ${seen.id}`);
  const until = share.now() + 120_000;
  await share.agree('extend', (store) => store.extend([{ id: seen.id, fence: seen.fence }], until));
  await commitSome(share, 'overtake', share.decide(seen, anyCommand(share, seen, dice)));
};

const note: Move = async (share, who, dice) => {
  const job = await pickJob(share, who);
  if (!job) return;
  const line = { at: share.now(), level: 'info', text: `said by ${who}` } as const;
  const log = Array.from({ length: dice.roll(3) }, () => line);
  const fence = job.fence - (dice.oneIn(4) ? 1 : 0);
  await share.agree(
    'writeNotes', (store) => store.writeNotes([{ id: job.id, fence, progress: `{"who":${who}}`, log }]),
  );
  if (dice.oneIn(2)) await share.agree('log', (store) => store.log(job.id));
  else await share.agree('progress', (store) => store.progress(job.id));
};

const beat: Move = async (share, who, dice) => {
  const id = share.own(`worker ${who % 2}`);
  const about = { host: 'h', pid: who, version: '1', types, slots: 1, busy: 0, draining: false };
  const holds = (await share.jobs()).map(({ id: job, fence }) => ({ id: job, fence }));
  const leaseMs = dice.pick([1000, 20, 60_000]);
  share.record(`beat of ${id} for ${leaseMs} ms`);
  await share.agree('beat', (store) => store.beat({ id, leaseMs, about, holds }), ({ now, lost, cancelled }) => ({
    now, lost: [...lost].sort((a, b) => a - b), cancelled: [...cancelled].sort((a, b) => a - b),
  }));
};

const leave: Move = async (share, who) => {
  const id = share.own(`worker ${who % 2}`);
  share.record(`leave of ${id}`);
  await share.agree('leave', (store) => store.leave(id));
  await share.agree('instances', (store) => store.instances(), (all) =>
    all.filter((each) => each.id.startsWith(share.own(''))).sort((a, b) => (a.id < b.id ? -1 : 1)));
};

const lead: Move = async (share, who, dice) => {
  const leaseMs = dice.pick([1000, 10]);
  await share.agree('lead', (store) => store.lead(share.own('role'), share.own(`worker ${who % 2}`), leaseMs));
};

const read: Move = async (share, _who, dice) => {
  const query = { types: share.types(), ...randomQuery(share, dice) };
  const page = { order: dice.pick(['newest', 'oldest'] as const), limit: 1 + dice.roll(8) };
  if (dice.oneIn(2)) await share.agree(`count ${JSON.stringify(query)}`, (store) => store.count(query), tallyMap);
  else await share.agree(`find ${JSON.stringify(query)}`, (store) => store.find(query, page));
};

const reread: Move = async (share, who, dice) => {
  const job = await pickJob(share, who);
  if (!job) return;
  const [from, limit] = [1 + dice.roll(job.version + 1), 1 + dice.roll(5)];
  await share.agree('a part of a history', (store) => store.history(job.id, from, limit));
  await share.agree('load', (store) => store.load([job.id, who]), (jobs) => share.mine(jobs));
};

function randomQuery(share: Share, dice: Dice): Query {
  return dice.pick<Query>([
    {}, { standings: standings.filter(() => dice.oneIn(2)) }, { kinds: ['run', 'task'] }, { def: share.own('nightly') },
    { tags: { tenant: 'ü' } }, { text: "IT'S" }, { error: 'failed' },
    { input: { path: ['n'], equals: dice.pick([1, '1']) } }, { parent: null }, { dueBefore: share.now() },
    { createdFrom: share.now() - 100 }, { createdBefore: share.now() }, { glob: share.own('[aB]') },
    { types: [share.own('a'), share.own('B')] },
  ]);
}

const readAhead: Move = async (share, who, dice) => {
  const { kinds: some, names } = claimRequest(share, dice);
  const job = await pickJob(share, who);
  await dice.pick<() => Promise<unknown>>([
    () => share.agree('next due', (store) => store.nextDue({ kinds: some, names })),
    async () => {
      await share.agree('jobsByKey', (store) => store.jobsByKey(keys.map((key) => share.own(key))));
      await share.agree('latest ends', (store) => store.latestEnds(defs.map((name) => share.own(name))));
      await share.agree('started runs', (store) => store.startedRuns(defs.map((name) => share.own(name))));
    },
    () => share.agree('behind gates', (store) => store.admittedPerGate(share.types())),
    async () => job && share.agree(`ahead of ${job.id}`, (store) => store.queuePosition(job)),
  ])();
};

/** The moves and their relative frequencies. The first move does nothing: shrinking replaces needless moves with it. */
const weights: readonly (readonly [Move, number])[] = [
  [async () => {}, 1],
  [create, 6], [createMany, 3], [createChild, 2], [claim, 8], [finish, 8], [operate, 7], [plan, 3], [adopt, 1],
  [settle, 2], [repair, 2], [comeLate, 3], [batchMove, 4], [remove, 2], [extend, 2], [note, 2], [beat, 1], [leave, 1],
  [lead, 1], [read, 3], [reread, 1], [readAhead, 4], [overtake, 2],
];

export const moves: readonly Move[] = weights.flatMap(([move, weight]) => Array<Move>(weight).fill(move));

async function pickJob(share: Share, who: number, isChosen?: (job: Job) => boolean): Promise<Job | undefined> {
  const jobs = await share.jobs(isChosen);
  return jobs[who % Math.max(1, jobs.length)];
}

async function commitSome(share: Share, what: string, changes: readonly Change[], whole = false): Promise<void> {
  if (changes.length > 0) await share.commit(what, changes, { whole });
}

/** Returns the first change of each job, so that a batch never has two changes of one job; guard.ts tests that case. */
function distinct(changes: readonly Change[]): Change[] {
  const seen = new Set<number>();
  const idOf = ({ before, after }: Change): number => (before ?? after)!.id;
  return changes.filter((change) => seen.size !== seen.add(idOf(change)).size);
}

const ownChild = (share: Share, parent: Job): JobSpec => ({ ...childOf(parent), type: share.own('b') });

const flat = ({ before, after, events }: Change) => ({ id: (before ?? after)!.id, before, after, events });
