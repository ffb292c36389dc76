/**
 * Makes lines of the waiting jobs of a claim, in which jobs with shares take turns (fair-share.ts). The keys of a group
 * that has more due jobs than a claim reads are found by seeks in the index `job_share`, many per statement. Implements
 * `aheadInShare` of `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { encodedShare, type GateAdmissions } from '../../../model/gate.ts';
import type { Job } from '../../../model/job.ts';
import { keysOf, separateShares, type ShareGroup, type TypedLane } from '../../fair-share.ts';
import { LaneLine, type JobLine } from '../../job-line.ts';
import { ShareLine } from '../../share-line.ts';
import { cutLine, ShareRound } from '../../share-round.ts';
import type { ShareStops, Stop } from '../../share-stops.ts';
import { gatesPerKeyMax, ShareWalk, type FirstAtGate, type KeyGate } from '../../share-walk.ts';
import { queuePositionMax } from '../../store.ts';
import type { Spreads } from '../../spreads.ts';
import type { WaitingJob } from '../../waiting-job.ts';
import type { Session } from '../sql/database.ts';
import { numberArray, textArray } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { isAtGate } from './lanes.ts';
import type { ClaimedLimits } from './limits.ts';

/** What a claim has read so far, and how many jobs it takes. */
export interface ShareClaim {
  readonly stops: ShareStops;
  readonly admissions: GateAdmissions;
  readonly limits: Pick<ClaimedLimits, 'load'>;
  readonly spreads: Spreads;
  readonly limit: number;
}

export async function linesInTurns(session: Session, lanes: readonly TypedLane[], claim: ShareClaim): Promise<JobLine[]> {
  const { groups, others } = separateShares(lanes);
  const lines: JobLine[] = [new LaneLine(others)];
  for (const group of groups) lines.push(await lineInTurns(session, group, claim));
  return lines;
}

async function lineInTurns(session: Session, group: ShareGroup, claim: ShareClaim): Promise<JobLine> {
  if (group.isCut) return cutLineInTurns(session, group, claim);
  const stop = claim.stops.among(group.name, () => keysOf(group.jobs));
  return new ShareLine({ group: group.name, jobs: group.jobs, stop, isCut: false });
}

async function cutLineInTurns(session: Session, group: ShareGroup, claim: ShareClaim): Promise<JobLine> {
  const { stops, admissions, limit, spreads } = claim;
  const stop = stops.of(group.name) ?? (await randomStop(session, group, stops));
  const walk = new ShareWalk(stop.key, limit, admissions);
  const isWhole = await walkFrom(session, group, claim, stop, walk);
  const round = new ShareRound(walk.firsts, stop, limit, isWhole);
  for (let wanted = round.wanted(); wanted.length > 0; wanted = round.wanted()) {
    const gates = wanted.flatMap(({ key, count }) => walk.gatesOf(key).map((gate) => ({ key, gate, count })));
    const jobs = await jobsAt(session, group, gates);
    round.add(jobs.filter((job) => !spreads.isHeld(group.type, job)));
  }
  return cutLine(group, round, walk, stop, stops);
}

/**
 * How many gates a further statement of a walk visits at least: with one free slot, the keys whose jobs are all due later
 * would otherwise cost a statement each.
 */
const furtherGates = 64;

/** Visits the gates from the key of the stop on, then those before it. Returns whether all keys were visited. */
async function walkFrom(
  session: Session,
  group: ShareGroup,
  { limits, spreads }: ShareClaim,
  stop: Stop,
  walk: ShareWalk,
): Promise<boolean> {
  let atLeast = 0;
  for (const before of [null, stop.key]) {
    let from: KeyGate | null = { key: before === null ? stop.key : '', gate: '' };
    while (from !== null && before !== '') {
      const count = Math.max(walk.missing, atLeast);
      const gates: readonly FirstAtGate[] = await gatesOfKeysAfter(session, group, { from, before, count });
      await limits.load(gates.flatMap(({ job }) => (job ? [job.gate] : [])));
      for (const gate of gates) walk.add(gate.job && spreads.isHeld(group.type, gate.job) ? { ...gate, job: null } : gate);
      if (walk.isDone) return false;
      from = gates.length < count ? null : gates.at(-1)!;
      atLeast = furtherGates;
    }
  }
  return true;
}

/** The key of the share in a gate, the gate without the costs, and whether there is a share, verbatim as in `job_share`. */
const shareKey = `split_part(split_part(job.gate, '@', 2), ':', 1)`;
const gateAlone = `split_part(job.gate, '#', 1)`;
const isShared = `${isAtGate} and strpos(gate, '@') > 0`;
const inGroup = `${isShared} and job.kind = $2 and job.type = $3 and job.priority = $4::bigint`;
const versionList = 'unnest($5::bigint[]) as versions (version)';
const ofVersion = `${inGroup} and job.type_version = versions.version`;

const groupValues = ({ time }: Session, { kind, type, priority, versions }: ShareGroup): unknown[] =>
  [time.parameter(), kind, type, priority, numberArray(versions)];

async function randomStop(session: Session, group: ShareGroup, stops: ShareStops): Promise<Stop> {
  const edge = (order: string): string => `select ${shareKey} as key from ${session.schema}.job
    where ${ofVersion} order by ${shareKey} ${order} limit 1`;
  const text = `select min(first.key) as first, max(last.key) as last, $1::bigint as time from ${versionList}
    cross join lateral (${edge('asc')}) first cross join lateral (${edge('desc')}) last`;
  const [keys] = await session.run<{ first: string | null; last: string | null }>(text, groupValues(session, group));
  return stops.between(group.name, keys?.first ?? '', keys?.last ?? '');
}

interface KeyGateRange {
  /** The key and gate behind which the range begins. */
  readonly from: KeyGate;
  /** The key before which the range ends; null: it ends with the last key. */
  readonly before: string | null;
  readonly count: number;
}

/**
 * Returns up to `count` gates with their first jobs, each found by one seek per version. Behind `gatesPerKeyMax` gates of
 * a key it continues with the next key: no text of a gate is above `~`.
 */
async function gatesOfKeysAfter(session: Session, group: ShareGroup, { from, before, count }: KeyGateRange): Promise<FirstAtGate[]> {
  const { schema } = session;
  const next = (key: string, gate: string): string => `(select found.* from ${versionList} cross join lateral (
      select ${shareKey} as key, ${gateAlone} as bare_gate, id, due, job.gate from ${schema}.job where ${ofVersion}
        and (${shareKey}, ${gateAlone}) > (${key}, ${gate}) order by ${shareKey}, ${gateAlone}, due, id limit 1) found
      order by found.key, found.bare_gate, found.due, found.id limit 1)`;
  const text = `with recursive step (key, bare_gate, id, due, gate, n, nth) as (
      select first.*, 1, 1 from ${next('$6::text', '$7::text')} first
      union all select following.*, n + 1, case when following.key = step.key then nth + 1 else 1 end
      from step cross join lateral ${next('step.key', `case when nth >= ${gatesPerKeyMax} then '~' else step.bare_gate end`)} following
      where n < $8
    ) select key, bare_gate, id, due, gate, due <= ${nowSql} as is_due from step
    where $9::text is null or key < $9::text order by n`;
  const rows = await session.run<KeyGateRow>(text, [...groupValues(session, group), from.key, from.gate, count, before]);
  return rows.map(({ key, bare_gate: bareGate, id, due, gate, is_due: isDue }) =>
    ({ key, gate: bareGate, job: isDue ? { id, priority: group.priority, due, gate } : null }));
}

interface KeyGateRow {
  readonly key: string;
  readonly bare_gate: string;
  readonly id: number;
  readonly due: number;
  readonly gate: string;
  readonly is_due: boolean;
}

type KeyGateCount = KeyGate & { readonly count: number };

/** Reads the first due jobs at each of these gates. The gate is written as a range, as the index `job_share` has it. */
async function jobsAt(session: Session, group: ShareGroup, gates: readonly KeyGateCount[]): Promise<WaitingJob[]> {
  const text = `select job.id, job.due, job.gate from unnest($6::text[], $7::text[], $8::bigint[]) as wanted (key, bare_gate, count)
    cross join lateral (select id, due, gate from ${versionList} cross join lateral (
        select id, due, gate from ${session.schema}.job where ${ofVersion}
          and ${shareKey} >= wanted.key and ${shareKey} <= wanted.key
          and ${gateAlone} >= wanted.bare_gate and ${gateAlone} <= wanted.bare_gate and due <= ${nowSql}
        order by ${shareKey}, ${gateAlone}, due, id limit wanted.count) of_version
      order by due, id limit wanted.count) job`;
  const values = [
    ...groupValues(session, group), textArray(gates.map(({ key }) => key)), textArray(gates.map(({ gate }) => gate)),
    numberArray(gates.map(({ count }) => count)),
  ];
  const rows = await session.run<Omit<WaitingJob, 'priority'>>(text, values);
  return rows.map((job) => ({ ...job, priority: group.priority })).sort(byClaimOrder);
}

/** The versions with waiting jobs that have shares are found by seeks. */
export async function aheadInShare(session: Session, job: Job): Promise<number> {
  const share = job.gate === null ? null : encodedShare(job.gate);
  if (share === null) return 0;
  const { kind, type, priority, due, id } = job;
  const { schema } = session;
  const next = (after: string): string => `(select type_version from ${schema}.job
    where ${isShared} and job.kind = $2 and job.type = $3 and job.type_version > ${after} order by type_version limit 1)`;
  const text = `with recursive versions (version) as (
      select ${next('0')} union all select ${next('versions.version')} from versions where version is not null
    ) select count(*) as count from (select 1 from versions cross join lateral (select 1 from ${schema}.job where ${ofVersion}
      and ${shareKey} = $5::text and due <= ${nowSql} and (due, id) < ($6::bigint, $7::bigint)
      limit ${queuePositionMax}) of_version where version is not null limit ${queuePositionMax}) ahead`;
  const values = [session.time.parameter(), kind, type, priority, share.key, due, id];
  const [row] = await session.run<{ count: number }>(text, values);
  return row!.count;
}
