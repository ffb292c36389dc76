/** The doctor: checks a store and its instances, and returns findings, with advice if there is something to do. */
import type { Jobs } from '../../jobs.ts';
import { pausesInForce } from '../../jobs/pauses.ts';
import type { Job } from '../../model/job.ts';
import type { Pause } from '../../model/pause.ts';
import { isLive, type InboxCounts, type Instance, type Migration, type StoreHealth } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { formatDuration } from '../../time/duration.ts';
import { isRefusal } from '../../refusal.ts';
import { findStuck, findUnknownVersions } from './stuck.ts';

export interface Finding {
  readonly level: 'fine' | 'warning' | 'problem';
  readonly about: string;
  readonly says: string;
  /** The advice; null: there is nothing to do, or `says` contains the advice. */
  readonly todo: string | null;
}

const skewMaxMs = 2_000;
const transactionMaxMs = 60_000;
const logMaxBytes = 256 * 1024 * 1024;
/** A table with fewer dead rows is never reported as bloated. */
const deadMin = 20_000;
const connectionsMaxShare = 0.85;
const lateMs = 60_000;
const pauseMaxMs = 86_400_000;
const shownMax = 5;

export async function runDoctor(jobs: Jobs, clock: Clock): Promise<readonly Finding[]> {
  const schema = await jobs.store.migrate({ dryRun: true }).then(ofSchema, unusableStore);
  if (schema.level === 'problem') return [schema];
  const damage = (await jobs.store.damage?.()) ?? [];
  if (damage.length > 0) return [schema, ofDamage(damage)];
  const asked = clock.now();
  const health = await jobs.store.health();
  const skewMs = Math.round(health.time - (asked + clock.now()) / 2);
  return [
    schema,
    ofClock(skewMs),
    ...ofHealth(health),
    ...ofInstances(await jobs.store.instances(), health.time),
    ...(await ofStuck(jobs)),
    ...(await ofLate(jobs, health.time)),
    ...ofPauses((await pausesInForce(jobs.store)).filter(({ spread }) => spread === null), health.time),
    ...ofInbox(await jobs.store.countInbox(), health.time),
  ];
}

const fine = (about: string, says: string): Finding => ({ level: 'fine', about, says, todo: null });
const warning = (about: string, says: string, todo: string): Finding => ({ level: 'warning', about, says, todo });
const problem = (about: string, says: string, todo: string): Finding => ({ level: 'problem', about, says, todo });

function ofSchema({ from, to }: Migration): Finding {
  if (from === to) return fine('schema', `version ${to}, up to date`);
  const says = from === 0 ? 'the schema does not exist yet' : `version ${from}, but this Stint requires ${to}`;
  return problem('schema', says, 'run stint migrate');
}

/**
 * Returns the finding about a store that cannot be used, such as one whose server does not answer. The message of the
 * refusal contains the advice. Rethrows an error that is not a refusal.
 */
export function unusableStore(error: unknown): Finding {
  if (!isRefusal(error)) throw error;
  return { level: 'problem', about: 'store', says: error.message, todo: null };
}

function ofDamage(damage: readonly string[]): Finding {
  const says = `the file is damaged: ${damage[0]!.slice(0, 200)}${damage.length > 1 ? ', and more' : ''}`;
  return problem('file', says, 'stop all processes that use it, keep a copy, and restore a backup');
}

function ofClock(skewMs: number): Finding {
  const says = `the clock of the store is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(skewMs) <= skewMaxMs) return fine('clock', says);
  return warning('clock', says, 'jobs use the clock of the store; synchronize both with NTP so that log times match');
}

function ofHealth({ bytes, bloat, logBytes, oldestTransactionMs, pool, connections }: StoreHealth): Finding[] {
  return [
    ...(bytes === null ? [] : [fine('size', megabytes(bytes))]),
    ofBloat(bloat),
    ...(logBytes === null ? [] : [ofLog(logBytes)]),
    ...(oldestTransactionMs === null ? [] : [ofTransaction(oldestTransactionMs)]),
    ...(pool === null
      ? []
      : [fine('pool', `${pool.open} of ${pool.max} connections open, ${pool.waiting} requests waiting`)]),
    ...(connections === null ? [] : [ofConnections(connections)]),
  ];
}

function ofBloat(bloat: StoreHealth['bloat']): Finding {
  const worst = bloat.filter(({ live, dead }) => dead > deadMin && dead > live)[0];
  if (worst === undefined) return fine('bloat', 'little dead data');
  const says = `${worst.part}: ${worst.dead} dead, ${worst.live} live`;
  return warning('bloat', says, 'run VACUUM; check for old transactions, which prevent it from removing dead rows');
}

function ofLog(bytes: number): Finding {
  const says = `${megabytes(bytes)} in the write-ahead log`;
  if (bytes <= logMaxBytes) return fine('log', says);
  return warning('log', says, 'a long-running reader blocks the checkpoint: end it');
}

function ofTransaction(ms: number): Finding {
  const says = `the oldest has been open for ${rounded(ms)}`;
  if (ms <= transactionMaxMs) return fine('transactions', says);
  return warning('transactions', says, 'it delays the event stream and VACUUM: find it in pg_stat_activity');
}

function ofConnections({ open, max }: { readonly open: number; readonly max: number }): Finding {
  const says = `${open} of ${max} connections of the server are open`;
  if (open <= max * connectionsMaxShare) return fine('connections', says);
  return warning('connections', says, 'raise max_connections, or use a connection pooler');
}

function ofInstances(instances: readonly Instance[], now: number): Finding[] {
  const live = instances.filter((each) => isLive(each, now));
  const slots = live.reduce((sum, { about }) => sum + about.slots, 0);
  const busy = live.reduce((sum, { about }) => sum + about.busy, 0);
  if (live.length === 0)
    return [warning('instances', 'none is live: no jobs are executed', 'start stint serve or stint work')];
  const leaders = live.filter(({ about }) => about.leads === true).map(({ id }) => id);
  const leads = leaders.length === 0 ? 'none leads yet' : `${leaders.join(' and ')} leads`;
  const text = fine('instances', `${live.length} live, ${busy} of ${slots} slots busy, ${leads}`);
  const versions = new Set(live.filter(({ about }) => about.pid > 0).map(({ about }) => about.version));
  const found = [text, ...ofRetention(live)];
  if (versions.size < 2) return found;
  const says = `live instances have different versions: ${[...versions].join(', ')}`;
  return [...found, warning('versions', says, 'finish the upgrade')];
}

/**
 * Reports the shortest retention of the live instances. It is in effect, because every instance deletes ended jobs of
 * the whole store by its own retention.
 */
function ofRetention(live: readonly Instance[]): Finding[] {
  const times = live.flatMap(({ about: { retentionMs } }) =>
    (retentionMs === undefined ? [] : [retentionMs ?? Infinity]));
  if (times.length === 0) return [];
  const shortestMs = Math.min(...times);
  const rule = shortestMs === Infinity ? 'kept for ever' : `deleted ${formatDuration(shortestMs)} after their end`;
  return [fine('retention', `ended runs are ${rule}, unless their type or definition sets a retention`)];
}

async function ofStuck(jobs: Jobs): Promise<Finding[]> {
  const { lapsed, unsettled, unknownTypes } = await findStuck(jobs);
  const found: Finding[] = [];
  if (lapsed.length > 0) {
    const lost = lapsed.length === 1 ? 'lost its holder and has' : 'lost their holder and have';
    const says = `${idList(lapsed)} ${lost} not been repaired`;
    found.push(problem('stuck', says, 'start stint work: any live engine repairs them within seconds'));
  }
  if (unsettled.length > 0) {
    const says = `${idList(unsettled)} ${unsettled.length === 1 ? 'waits' : 'wait'} for children, but none is open`;
    found.push(problem('stuck', says, 'start stint work: any live engine settles them within a minute'));
  }
  for (const [type, count] of [...unknownTypes].slice(0, shownMax)) {
    const says = `${jobCount(count)} of type ${type} due, but no live instance has it`;
    found.push(problem('types', says, 'start a worker that has it, or cancel the jobs: stint runs ls --type …'));
  }
  for (const { type, typeVersion, count } of (await findUnknownVersions(jobs)).slice(0, shownMax)) {
    const says = `${jobCount(count)} of version ${typeVersion} of type ${type} waiting, but no live instance knows it`;
    const todo = 'start a worker whose code knows it; if a definition creates them, set its params again: stint defs edit …';
    found.push(problem('types', says, todo));
  }
  return found.length > 0 ? found : [fine('stuck', 'no job is stuck')];
}

/** Findings about definitions and jobs that have been due for more than a minute without being ticked or claimed. */
async function ofLate(jobs: Jobs, now: number): Promise<Finding[]> {
  const before = now - lateMs;
  const late = async (kinds: readonly ('def' | 'run' | 'task')[]): Promise<number> => {
    const tallies = await jobs.count({ kinds, standings: ['pending'], dueBefore: before });
    return tallies.reduce((sum, { count }) => sum + count, 0);
  };
  const defs = await late(['def']);
  const shown = defs === 0 ? [] : (await jobs.find(
    { kinds: ['def'], standings: ['pending'], dueBefore: before }, { order: 'oldest', limit: shownMax },
  )).jobs;
  const work = await late(['run', 'task']);
  return [ofOverdue(defs, shown, now), ofBacklog(work)];
}

function ofOverdue(defs: number, shown: readonly Job[], now: number): Finding {
  if (defs === 0) return fine('schedules', 'none is overdue');
  const names = shown.map(({ def, due }) => `${def} by ${rounded(now - due)}`).join(', ');
  const says = `${defs} overdue by more than a minute: ${names}${defs > shown.length ? ', and more' : ''}`;
  return problem('schedules', says, 'no engine processes schedules: start stint work');
}

function ofBacklog(work: number): Finding {
  if (work === 0) return fine('backlog', 'no job has been due for more than a minute');
  const says = `${jobCount(work)} due for more than a minute`;
  return warning('backlog', says, 'add slots or instances, or use stint runs explain');
}

/** Findings about pauses that began more than a day ago: somebody may have forgotten them. */
function ofPauses(pauses: readonly Pause[], now: number): Finding[] {
  const old = pauses.filter(({ since }) => now - since > pauseMaxMs);
  if (old.length === 0) return [fine('pauses', pauses.length === 0 ? 'no type is paused' : 'none is older than a day')];
  return old.slice(0, shownMax).map(({ type, key, by, why, since, until }) => {
    const what = key === null ? `type ${type}` : `key ${JSON.stringify(key)} of type ${type}`;
    const end = until === null ? '' : `, until ${new Date(until).toISOString()}`;
    const says = `${what} has been paused for ${rounded(now - since)} by ${by}${end}${why === null ? '' : `: ${why}`}`;
    return warning('pauses', says, 'resume it if it is forgotten: stint types resume …');
  });
}

function ofInbox({ waiting, refused, oldestWaitingAt }: InboxCounts, now: number): Finding[] {
  const found: Finding[] = [];
  if (refused > 0) {
    const todo = 'stint inbox ls --refused shows why; then stint inbox retry or stint inbox rm';
    found.push(warning('inbox', `${requestCount(refused)} refused`, todo));
  }
  if (oldestWaitingAt !== null && now - oldestWaitingAt > lateMs) {
    const says = `${requestCount(waiting)} waiting, the oldest for ${rounded(now - oldestWaitingAt)}`;
    found.push(problem('inbox', says, 'no engine reads the inbox: start stint work'));
  }
  return found.length > 0 ? found : [fine('inbox', 'no request is refused or late')];
}

const requestCount = (count: number): string => (count === 1 ? '1 request' : `${count} requests`);

const jobCount = (count: number): string => (count === 1 ? '1 job' : `${count} jobs`);

function idList(ids: readonly number[]): string {
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : '';
  return `${ids.length === 1 ? 'job' : 'jobs'} ${ids.slice(0, shownMax).join(', ')}${more}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const rounded = (ms: number): string => formatDuration(Math.round(ms / 1000) * 1000);
