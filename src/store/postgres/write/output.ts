/** Reads and writes the output of jobs: `output` and `outputBytes` of `port/reading.ts`. */
import type { OutputPosition, OutputSegment } from '../../../model/output.ts';
import type { Note } from '../../store.ts';
import type { Session } from '../sql/database.ts';
import { numberArray, textArray } from '../sql/row-parameters.ts';

/** Writes segments, except those that are stored already. The caller has locked the jobs, and checked their fences. */
export async function writeOutput(session: Session, notes: readonly Note[]): Promise<void> {
  const rows = notes.flatMap(({ id, fence, output: segments = [] }) =>
    segments.map((segment) => ({ ...segment, job: id, fence })));
  if (rows.length === 0) return;
  const text = `insert into ${session.schema}.output (job, fence, upto, bytes, text)
    select * from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[]) on conflict do nothing`;
  await session.run(text, [
    numberArray(rows.map(({ job }) => job)),
    numberArray(rows.map(({ fence }) => fence)),
    numberArray(rows.map(({ upto }) => upto)),
    numberArray(rows.map(({ bytes }) => bytes)),
    textArray(rows.map((row) => row.text)),
  ]);
}

export async function output(
  session: Session,
  id: number,
  { fence, n }: OutputPosition,
  limit: number,
): Promise<OutputSegment[]> {
  const text = `select fence, upto, bytes, text from ${session.schema}.output where job = $1 and (fence, upto) > ($2, $3)
    order by fence, upto limit $4`;
  return session.run<OutputSegment>(text, [id, fence, n, limit]);
}

export async function outputBytes(session: Session, id: number): Promise<number> {
  const text = `select bytes from ${session.schema}.output where job = $1 order by fence desc, upto desc limit 1`;
  const [row] = await session.run<{ bytes: number }>(text, [id]);
  return row?.bytes ?? 0;
}
