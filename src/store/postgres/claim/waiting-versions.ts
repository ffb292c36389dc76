/** Counts the pending runs and tasks of types by version. Implements `waitingVersions` of `port/claiming.ts`. */
import { workKinds } from '../../../model/state.ts';
import { queuePositionMax, type WaitingVersion } from '../../store.ts';
import { sumByVersion } from '../../waiting-version-sum.ts';
import type { Session } from '../sql/database.ts';
import { textArray } from '../sql/row-parameters.ts';
import { isAtGate, isFree } from './lanes.ts';

export async function waitingVersions(session: Session, types: readonly string[]): Promise<WaitingVersion[]> {
  const text = `${inLanes(session.schema, isFree)} union all ${inLanes(session.schema, isAtGate)}`;
  const rows = await session.run<{ type: string; type_version: number; count: number }>(
    text, [textArray(workKinds), textArray(types)],
  );
  return sumByVersion(rows.map(({ type, type_version: typeVersion, count }) => ({ type, typeVersion, count })));
}

/** Each version is found by one seek from the one before it. */
function inLanes(schema: string, waits: string): string {
  const next = (from: string, further: string): string => `(select job.type_version from ${schema}.job
    where ${waits} and job.kind = ${from}.kind and job.type = ${from}.type ${further} order by job.type_version limit 1)`;
  return `(with recursive asked as (
      select kind, type from unnest($1::text[]) as kinds (kind), unnest($2::text[]) as types (type)
    ), step (kind, type, type_version) as (
      select kind, type, ${next('asked', '')} from asked union all
      select kind, type, ${next('step', 'and job.type_version > step.type_version')} from step
      where type_version is not null
    ) select type, type_version, (select count(*) from (
        select 1 from ${schema}.job where ${waits} and job.kind = step.kind and job.type = step.type
          and job.type_version = step.type_version limit ${queuePositionMax}) waiting) as count
      from step where type_version is not null)`;
}
