/**
 * Puts the waiting jobs with shares in the order of turns (fair-share.ts). The keys of a group that has more due jobs than
 * a claim reads are found by seeks in the index `job_share`, many per statement. Implements `aheadInShare` of
 * `port/claiming.ts`.
 */
import { byClaimOrder } from '../../../model/claim-order.ts';
import { encodedShare } from '../../../model/gate.ts';
import type { Job } from '../../../model/job.ts';
import {
  cutLane, emptyKeysMax, laneInTurns, separateShares, ShareRound, type FirstJobs, type KeyCount, type ShareGroup, type ShareStops,
  type Stop, type TypedLane,
} from '../../fair-share.ts';
import { queuePositionMax } from '../../store.ts';
import type { GateLane, WaitingJob } from '../../waiting-job.ts';
import type { Session } from '../sql/database.ts';
import { numberArray, textArray } from '../sql/row-parameters.ts';
import { nowSql } from '../sql/server-clock.ts';
import { isAtGate } from './lanes.ts';

export async function lanesInTurns(
  session: Session,
  lanes: readonly TypedLane[],
  stops: ShareStops,
  limit: number,
): Promise<readonly GateLane[]> {
  const { groups, others } = separateShares(lanes);
  const inTurns: GateLane[] = [];
  for (const group of groups) {
    inTurns.push(group.isCut
      ? await cutLaneInTurns(session, group, stops, limit)
      : laneInTurns(group, group.jobs, stops.of(group.name)));
  }
  return [...others, ...inTurns];
}

async function cutLaneInTurns(
  session: Session,
  group: ShareGroup,
  stops: ShareStops,
  limit: number,
): Promise<GateLane> {
  const stop = stops.of(group.name);
  const found = await firstsFrom(session, group, stop, limit);
  const round = new ShareRound(found.firsts, stop, limit, found.isWhole);
  for (let wanted = round.wanted(); wanted.length > 0; wanted = round.wanted()) {
    round.add(await jobsOfKeys(session, group, wanted));
  }
  return cutLane(group, round.jobs, found, stops, limit);
}

async function firstsFrom(session: Session, group: ShareGroup, stop: Stop, limit: number): Promise<FirstJobs> {
  const firsts: WaitingJob[] = [];
  let [last, empty] = [stop.key, 0];
  for (const before of [null, stop.key]) {
    let [from, sign]: [string, '>=' | '>'] = before === null ? [stop.key, '>='] : ['', '>='];
    for (let isEnd = before === ''; !isEnd; sign = '>') {
      const count = limit + 1 - firsts.length;
      const found = await firstJobs(session, group, { sign, from, before, count });
      firsts.push(...found.flatMap(({ job }) => job ?? []));
      empty += found.filter(({ job }) => job === null).length;
      last = from = found.at(-1)?.key ?? from;
      if (firsts.length > limit || empty > emptyKeysMax) return { firsts, isWhole: false, last };
      isEnd = found.length < count;
    }
  }
  return { firsts, isWhole: true, last };
}

/** The key of the share in a gate, and whether there is one, verbatim as in the index `job_share`. */
const shareKey = `split_part(split_part(job.gate, '@', 2), ':', 1)`;
const isShared = `${isAtGate} and strpos(gate, '@') > 0`;
const inGroup = `${isShared} and job.kind = $2 and job.type = $3 and job.priority = $4::bigint`;
const versionList = 'unnest($5::bigint[]) as versions (version)';
/**
 * Written as a range, and with the key first in the order, as the index `job_share` has it. With statistics of a nearly
 * empty table, PostgreSQL may sort instead until the table is analysed again.
 */
const ofKey = (key: string): string => `${inGroup} and job.type_version = versions.version
  and ${shareKey} >= ${key} and ${shareKey} <= ${key} and due <= ${nowSql} order by ${shareKey}, due, id`;

const groupValues = ({ time }: Session, { kind, type, priority, versions }: ShareGroup): unknown[] =>
  [time.parameter(), kind, type, priority, numberArray(versions)];

interface KeyRange {
  readonly sign: '>=' | '>';
  readonly from: string;
  /** Null: up to the last key. */
  readonly before: string | null;
  readonly count: number;
}

interface FirstOfShare {
  readonly key: string;
  /** Null: no job of the key is due. */
  readonly job: WaitingJob | null;
}

/** Returns up to `count` keys, each with its first due job, and each found by one seek per version. */
async function firstJobs(
  session: Session,
  group: ShareGroup,
  { sign, from, before, count }: KeyRange,
): Promise<FirstOfShare[]> {
  const { schema } = session;
  const next = (operator: string, after: string): string => `(select min(found.key) from ${versionList} cross join lateral (
      select ${shareKey} as key from ${schema}.job where ${inGroup} and job.type_version = versions.version
        and ${shareKey} ${operator} ${after} order by ${shareKey} limit 1) found)`;
  const text = `with recursive step (key, n) as (
      select ${next(sign, '$6::text')}, 1 union all select ${next('>', 'step.key')}, n + 1 from step
      where key is not null and n < $7
    ) select step.key, first.id, first.due, first.gate from step left join lateral (
      select id, due, gate from ${versionList} cross join lateral (
        select id, due, gate from ${schema}.job where ${ofKey('step.key')} limit 1) job
      order by due, id limit 1) first on true
    where step.key is not null and ($8::text is null or step.key < $8::text) order by n`;
  const values = [...groupValues(session, group), from, count, before];
  const rows = await session.run<{ key: string; id: number | null; due: number; gate: string }>(text, values);
  return rows.map(({ key, id, due, gate }) =>
    ({ key, job: id === null ? null : { id, priority: group.priority, due, gate } }));
}

/** Reads the first due jobs of each of these keys. */
async function jobsOfKeys(session: Session, group: ShareGroup, wanted: readonly KeyCount[]): Promise<WaitingJob[]> {
  const text = `select job.id, job.due, job.gate from unnest($6::text[], $7::bigint[]) as wanted (key, count)
    cross join lateral (select id, due, gate from ${versionList} cross join lateral (
        select id, due, gate from ${session.schema}.job where ${ofKey('wanted.key')} limit wanted.count) of_version
      order by due, id limit wanted.count) job`;
  const values = [
    ...groupValues(session, group), textArray(wanted.map(({ key }) => key)), numberArray(wanted.map(({ count }) => count)),
  ];
  const rows = await session.run<Omit<WaitingJob, 'priority'>>(text, values);
  return rows.map((job) => ({ ...job, priority: group.priority })).sort(byClaimOrder);
}

export async function aheadInShare(session: Session, job: Job): Promise<number> {
  const share = job.gate === null ? null : encodedShare(job.gate);
  if (share === null) return 0;
  const { kind, type, typeVersion, priority, due, id } = job;
  const text = `select count(*) as count from (select 1 from ${session.schema}.job where ${inGroup}
      and job.type_version = $5::bigint and ${shareKey} = $6::text and due <= ${nowSql}
      and (due, id) < ($7::bigint, $8::bigint) limit ${queuePositionMax}) ahead`;
  const values = [session.time.parameter(), kind, type, priority, typeVersion, share.key, due, id];
  const [row] = await session.run<{ count: number }>(text, values);
  return row!.count;
}
