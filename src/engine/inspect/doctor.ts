/** The doctor: the state of a store and of the instances on it, finding by finding, each with what to do about it. */
import type { Jobs } from '../../jobs.ts';
import type { Instance, Migration, StoreHealth } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { formatDuration } from '../../time/duration.ts';
import { findStuck } from './stuck.ts';

export interface Finding {
  readonly level: 'fine' | 'warning' | 'problem';
  readonly about: string;
  readonly says: string;
  /** What to do; null: nothing. */
  readonly todo: string | null;
}

const skewMaxMs = 2_000;
const transactionMaxMs = 60_000;
const logMaxBytes = 256 * 1024 * 1024;
/** Below this a store is too small for bloat to matter. */
const deadMin = 20_000;
const connectionsMaxShare = 0.85;
const lateMs = 60_000;
const shownMax = 5;

export async function runDoctor(jobs: Jobs, clock: Clock): Promise<readonly Finding[]> {
  const schema = ofSchema(await jobs.store.migrate({ dryRun: true }));
  if (schema.level === 'problem') return [schema];
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
  ];
}

const fine = (about: string, says: string): Finding => ({ level: 'fine', about, says, todo: null });
const warning = (about: string, says: string, todo: string): Finding => ({ level: 'warning', about, says, todo });
const problem = (about: string, says: string, todo: string): Finding => ({ level: 'problem', about, says, todo });

function ofSchema({ from, to }: Migration): Finding {
  if (from === to) return fine('schema', `version ${to}, as this Stint knows it`);
  const says = from === 0 ? 'nothing of Stint is there yet' : `version ${from}, and this Stint needs ${to}`;
  return problem('schema', says, 'run stint migrate');
}

function ofClock(skewMs: number): Finding {
  const says = `the store is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(skewMs) <= skewMaxMs) return fine('clock', says);
  return warning('clock', says, 'jobs go by the clock of the store; set both by NTP so that logs agree');
}

function ofHealth({ bytes, bloat, logBytes, oldestTransactionMs, pool, connections }: StoreHealth): Finding[] {
  return [
    ...(bytes === null ? [] : [fine('size', megabytes(bytes))]),
    ofBloat(bloat),
    ...(logBytes === null ? [] : [ofLog(logBytes)]),
    ...(oldestTransactionMs === null ? [] : [ofTransaction(oldestTransactionMs)]),
    ...(pool === null
      ? []
      : [fine('pool', `${pool.open} of ${pool.max} connections open, ${pool.waiting} wait for one`)]),
    ...(connections === null ? [] : [ofConnections(connections)]),
  ];
}

function ofBloat(bloat: StoreHealth['bloat']): Finding {
  const worst = bloat.filter(({ live, dead }) => dead > deadMin && dead > live)[0];
  if (worst === undefined) return fine('bloat', 'little is held by what was deleted');
  const says = `${worst.part}: ${worst.dead} are dead and ${worst.live} in use`;
  return warning('bloat', says, 'VACUUM; look for what keeps it away, such as an old transaction');
}

function ofLog(bytes: number): Finding {
  const says = `${megabytes(bytes)} of commits wait to be taken over into the file`;
  if (bytes <= logMaxBytes) return fine('log', says);
  return warning('log', says, 'some process reads for very long: end it');
}

function ofTransaction(ms: number): Finding {
  const says = `the oldest has been open for ${shown(ms)}`;
  if (ms <= transactionMaxMs) return fine('transactions', says);
  return warning('transactions', says, 'the stream of events waits for it, and VACUUM too: see pg_stat_activity');
}

function ofConnections({ open, max }: { readonly open: number; readonly max: number }): Finding {
  const says = `${open} of ${max} are open on the server`;
  if (open <= max * connectionsMaxShare) return fine('connections', says);
  return warning('connections', says, 'raise max_connections, or put a pooler in front');
}

function ofInstances(instances: readonly Instance[], now: number): Finding[] {
  const alive = instances.filter(({ leaseUntil }) => leaseUntil > now);
  const slots = alive.reduce((sum, { about }) => sum + about.slots, 0);
  const busy = alive.reduce((sum, { about }) => sum + about.busy, 0);
  if (alive.length === 0)
    return [warning('instances', 'none is alive: nothing is run', 'start stint serve or stint work')];
  const text = fine('instances', `${alive.length} alive, ${busy} of ${slots} slots busy`);
  const versions = new Set(alive.filter(({ about }) => about.pid > 0).map(({ about }) => about.version));
  if (versions.size < 2) return [text];
  return [text, warning('versions', `several at once: ${[...versions].join(', ')}`, 'finish the update')];
}

async function ofStuck(jobs: Jobs): Promise<Finding[]> {
  const { lapsed, unsettled, unknownTypes } = await findStuck(jobs);
  const found: Finding[] = [];
  if (lapsed.length > 0) {
    const says = `${some(lapsed)} lost their holder and nobody has repaired them`;
    found.push(problem('stuck', says, 'any living engine repairs them within seconds: start stint work'));
  }
  if (unsettled.length > 0) {
    const says = `${some(unsettled)} wait for children of which none is open`;
    found.push(problem('stuck', says, 'any living engine settles them within a minute: start stint work'));
  }
  for (const [type, count] of [...unknownTypes].slice(0, shownMax)) {
    const says = `${count === 1 ? '1 job' : `${count} jobs`} of ${type} due, and no living instance knows it`;
    found.push(problem('types', says, 'start a worker that knows it, or cancel them: stint runs ls --type …'));
  }
  return found.length > 0
    ? found
    : [fine('stuck', 'nothing: every open job is held, waits for something, or has someone')];
}

/** Definitions whose time has passed, and jobs that are due and have someone, but are not taken. */
async function ofLate(jobs: Jobs, now: number): Promise<Finding[]> {
  const before = now - lateMs;
  const late = async (kinds: readonly ('def' | 'run' | 'task')[]): Promise<number> => {
    const tallies = await jobs.count({ kinds, standings: ['pending'], dueBefore: before });
    return tallies.reduce((sum, { count }) => sum + count, 0);
  };
  const defs = await late(['def']);
  const work = await late(['run', 'task']);
  return [
    defs === 0
      ? fine('schedules', 'none is late')
      : problem('schedules', `${defs} definitions are late by more than a minute`, 'no engine ticks: start stint work'),
    work === 0
      ? fine('backlog', 'nothing is due for more than a minute')
      : warning('backlog', `${work} jobs are due for more than a minute`, 'more slots, or see stint runs explain'),
  ];
}

function some(ids: readonly number[]): string {
  const more = ids.length > shownMax ? ` and ${ids.length - shownMax} more` : '';
  return `${ids.length === 1 ? 'job' : 'jobs'} ${ids.slice(0, shownMax).join(', ')}${more}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MB`;

const shown = (ms: number): string => formatDuration(Math.round(ms / 1000) * 1000);
