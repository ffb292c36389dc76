/**
 * Reads the steps of jobs, writes the ends of steps of jobs that are running under the given fence, and makes reopened
 * jobs forget steps. Implements `port/steps.ts`, and `forgottenSteps` and `waitEnds` of a batch.
 */
import {
  beforeSteps, type ForgottenSteps, type NewStep, type OpenWait, type StoredStep, type WaitEnd,
} from '../../../model/step.ts';
import type { WaitCursor, WaitTally } from '../../store.ts';
import { rowOfStep, stepColumns, stepOfRow, stepsPage, type StepRow } from '../../step-row.ts';
import { idsParameter, lockClaimsOf } from '../read/claimed.ts';
import type { Database, Session, Transaction } from '../sql/database.ts';
import { numberArray } from '../sql/row-parameters.ts';
import { lockHeld } from './notes.ts';

/**
 * Locks the rows of the jobs before it writes. A repeated write after a lost connection finds its own rows by their
 * fences.
 */
export async function writeSteps(database: Database, steps: readonly NewStep[]): Promise<boolean[]> {
  if (steps.length === 0) return [];
  return database.transaction(async (transaction: Transaction) => {
    const holdings = steps.map(({ job: id, fence }) => ({ id, fence }));
    const [, held] = await Promise.all([
      lockClaimsOf(transaction, holdings.map(({ id }) => id)), lockHeld(transaction, holdings),
    ]);
    const heldSteps = steps.filter(({ job, fence }) => held.has(`${job}/${fence}`));
    const [stored] = await Promise.all([writeHeld(transaction, heldSteps), transaction.commit()]);
    return steps.map((step) => stored.has(keyOf(step)));
  });
}

/** Writes ends, also over answers that came early; returns the job, fence and name of those that are stored. */
async function writeHeld(session: Session, steps: readonly NewStep[]): Promise<Set<string>> {
  if (steps.length === 0) return new Set();
  const { schema } = session;
  const text = `with given as materialized (select * from json_to_recordset($1::json) as given (
      job bigint, name text, kind text, n bigint, fence bigint, started_at bigint, ended_at bigint, result text,
      question text)
    ), written as (
      insert into ${schema}.step as known (${stepColumns})
      select job, name, kind, n, 1, fence, started_at, ended_at, result, question from given
      on conflict (job, name) do update set kind = excluded.kind, n = excluded.n, fence = excluded.fence,
        started_at = excluded.started_at, ended_at = excluded.ended_at, result = excluded.result,
        question = excluded.question
      where known.ended_at is null or (known.n = 0 and excluded.ended_at is not null) returning job, fence, name
    ) select job, fence, name from written union
      select step.job, step.fence, step.name from given cross join lateral (
        select job, fence, name from ${schema}.step where step.job = given.job and step.name = given.name limit 1) step`;
  const given = [...new Map(steps.toReversed().map((step) => [keyOf(step), rowOfStep(step)])).values()];
  const rows = await session.run<Pick<StepRow, 'job' | 'fence' | 'name'>>(text, [JSON.stringify(given)]);
  return new Set(rows.map(keyOf));
}

const keyOf = ({ job, fence, name }: Pick<NewStep, 'job' | 'fence' | 'name'>): string => `${job}/${fence}/${name}`;

export async function steps(
  session: Session,
  jobs: readonly number[],
  after = beforeSteps,
  limit = stepsPage,
): Promise<StoredStep[]> {
  const text = `select ${stepColumns.replace('job, ', 'step.job, ')} from unnest(${idsParameter(1)}) as wanted (id)
    cross join lateral (
      select ${stepColumns} from ${session.schema}.step where step.job = wanted.id and n > $2 order by n, name limit $3) step
    order by step.job, n, name`;
  return (await session.run<StepRow>(text, [numberArray([...new Set(jobs)]), after, limit])).map(stepOfRow);
}

export async function stepNamed(session: Session, job: number, name: string): Promise<StoredStep | undefined> {
  const text = `select ${stepColumns} from ${session.schema}.step where job = $1 and name = $2`;
  const [row] = await session.run<StepRow>(text, [job, name]);
  return row && stepOfRow(row);
}

export async function forgetSteps(session: Session, forgotten: readonly ForgottenSteps[]): Promise<void> {
  const text = `update ${session.schema}.step set generation = given.generation, ended_at = null, result = null,
    question = null
    from (select * from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as given (job, first, generation)) given
    where step.job = given.job and n >= given.first and (ended_at is not null or question is not null)`;
  const column = (of: (steps: ForgottenSteps) => number): string => numberArray(forgotten.map(of));
  await session.run(text, [
    column(({ job }) => job), column(({ from }) => from), column(({ generation }) => generation),
  ]);
}

export async function endWaits(session: Session, ends: readonly WaitEnd[]): Promise<void> {
  const text = `insert into ${session.schema}.step as known (${stepColumns})
    select job, name, 'wait', 0, 1, 0, at, case when result is null then null else at end, result, null
    from json_to_recordset($1::json) as given (job bigint, name text, at bigint, result text)
    on conflict (job, name) do update set kind = 'wait', ended_at = excluded.ended_at, result = excluded.result,
      n = case when known.ended_at is null and known.question is null then 0 else known.n end,
      fence = case when known.ended_at is null and known.question is null then 0 else known.fence end`;
  await session.run(text, [JSON.stringify(ends)]);
}

export async function openWaits(session: Session, after: WaitCursor | null, limit: number): Promise<OpenWait[]> {
  // The subquery with a limit is executed per row, by the primary key, whatever the planner knows of the table.
  const text = `select ${stepColumns} from ${session.schema}.step
    where step.ended_at is null and question is not null and (job, name) > ($1, $2)
      and (select 1 from ${session.schema}.ended where ended.id = step.job limit 1) is null
    order by job, name limit $3`;
  const rows = await session.run<StepRow>(text, [after?.job ?? 0, after?.name ?? '', limit]);
  return rows.map((row) => stepOfRow(row) as OpenWait);
}

export async function tallyOpenWaits(session: Session): Promise<WaitTally> {
  const text = `select count(*)::bigint as count, min(started_at) as oldest from ${session.schema}.step
    where ended_at is null and question is not null
      and (select 1 from ${session.schema}.ended where ended.id = step.job limit 1) is null`;
  return (await session.run<WaitTally>(text, []))[0]!;
}
