/**
 * Reads the progress and log of jobs, and writes them and output for jobs that are running under the given fence.
 * Implements `writeNotes` of `port/writing.ts`, and `progress` and `log` of `port/reading.ts`.
 */
import type { Holding, LogLine, NewLogLine, Note } from '../../store.ts';
import { textArray, numberArray } from '../sql/row-parameters.ts';
import type { Database, Session, Transaction } from '../sql/database.ts';
import { claimedIdsSql, firstFence, idsParameter, idsValue, lockClaimsOf } from '../read/claimed.ts';
import { writeOutput } from './output.ts';

/** Locks the rows of the jobs before it writes. Returns for each note whether it was written. */
export async function writeNotes(database: Database, notes: readonly Note[]): Promise<boolean[]> {
  if (notes.length === 0) return [];
  let isOutcomeUnknown = false;
  const write = async (transaction: Transaction): Promise<boolean[]> => {
    const [, held] = await Promise.all([
      lockClaimsOf(transaction, notes.map(({ id }) => id)), lockHeld(transaction, notes),
    ]);
    const heldNotes = notes.filter(({ id, fence }) => held.has(`${id}/${fence}`));
    const logs = logsOf(heldNotes);
    const unwritten = isOutcomeUnknown ? await withoutWritten(transaction, logs) : logs;
    await Promise.all([
      writeProgress(transaction, heldNotes), writeLog(transaction, unwritten), writeOutput(transaction, heldNotes),
      transaction.commit(),
    ]);
    return notes.map(({ id, fence }) => held.has(`${id}/${fence}`));
  };
  return database.transaction(write, () => {
    isOutcomeUnknown = true;
  });
}

export async function progress(session: Session, id: number): Promise<string | null> {
  const [row] = await session.run<{ tree: string }>(`select tree from ${session.schema}.progress where job = $1`, [id]);
  return row?.tree ?? null;
}

/** Reads log lines. The text of a line is stored as JSON, since PostgreSQL's text cannot contain NUL. */
export async function log(session: Session, id: number, after = 0, limit = 1000): Promise<LogLine[]> {
  const text = `select n, at, level, text, fence from ${session.schema}.log where job = $1 and n > $2 order by n limit $3`;
  const lines = await session.run<LogLine>(text, [id, after, limit]);
  return lines.map((line) => ({ ...line, text: JSON.parse(line.text) as string }));
}

/**
 * Locks the rows of the jobs that are running, and returns their ids and fences. The claims of jobs that have no rows
 * must be locked before, by a statement of its own: this statement then sees what others wrote while they had the locks.
 */
export async function lockHeld(session: Session, holdings: readonly Holding[]): Promise<Set<string>> {
  const { schema } = session;
  const claimed = `select id, ${firstFence}::bigint from (${claimedIdsSql(schema, { ids: idsParameter(1) })}) claimed`;
  const text = `select locked.id, locked.fence from unnest($1::bigint[]) as wanted (id) cross join lateral (
      select id, fence, state from ${session.schema}.job where job.id = wanted.id limit 1 for no key update) locked
    where locked.state = 'running' union all ${claimed}`;
  const rows = await session.run<{ id: number; fence: number }>(text, [idsValue(holdings.map(({ id }) => id))]);
  return new Set(rows.map(({ id, fence }) => `${id}/${fence}`));
}

type NewLine = NewLogLine & { readonly fence: number };

/** The new lines of each job, in their order. Several notes may be about one job. */
type NewLogs = ReadonlyMap<number, readonly NewLine[]>;

function logsOf(notes: readonly Note[]): NewLogs {
  const logs = new Map<number, NewLine[]>();
  for (const { id, fence, log: lines = [] } of notes) {
    const added = lines.map((line) => ({ ...line, fence }));
    if (added.length > 0) logs.set(id, [...(logs.get(id) ?? []), ...added]);
  }
  return logs;
}

/**
 * After a lost connection: returns the lines that are not stored yet. The lines of a job are stored if its log ends
 * with them.
 */
async function withoutWritten(session: Session, logs: NewLogs): Promise<NewLogs> {
  const unwritten = new Map<number, readonly NewLine[]>();
  for (const [id, lines] of logs) if (!(await endsWith(session, id, lines))) unwritten.set(id, lines);
  return unwritten;
}

async function endsWith(session: Session, id: number, lines: readonly NewLine[]): Promise<boolean> {
  const text = `select max(n) as last from ${session.schema}.log where job = $1`;
  const [row] = await session.run<{ last: number | null }>(text, [id]);
  const stored = await log(session, id, (row!.last ?? 0) - lines.length, lines.length);
  return stored.length === lines.length && stored.every((line, at) => isSameLine(line, lines[at]!));
}

const isSameLine = (a: Omit<LogLine, 'n'>, b: NewLine): boolean =>
  a.at === b.at && a.level === b.level && a.text === b.text && a.fence === b.fence;

async function writeProgress(session: Session, notes: readonly Note[]): Promise<void> {
  const newest = new Map(notes.flatMap(({ id, progress: tree }) => (tree === undefined ? [] : [[id, tree] as const])));
  if (newest.size === 0) return;
  const text = `insert into ${session.schema}.progress (job, tree) select * from unnest($1::bigint[], $2::text[])
    on conflict (job) do update set tree = excluded.tree`;
  await session.run(text, [numberArray([...newest.keys()]), textArray([...newest.values()])]);
}

async function writeLog(session: Session, logs: NewLogs): Promise<void> {
  const lines = [...logs].flatMap(([job, added]) => added.map((line) => ({ job, ...line })));
  if (lines.length === 0) return;
  const text = `insert into ${session.schema}.log (job, n, at, level, text, fence)
    select line.job, coalesce(last.n, 0) + row_number() over (partition by line.job order by position),
      at, level, text, fence
    from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])
      with ordinality line (job, at, level, text, fence, position)
    left join lateral (
      select n from ${session.schema}.log where log.job = line.job order by n desc limit 1) last on true`;
  await session.run(text, [
    numberArray(lines.map(({ job }) => job)),
    numberArray(lines.map(({ at }) => at)),
    textArray(lines.map(({ level }) => level)),
    textArray(lines.map(({ text: line }) => JSON.stringify(line))),
    numberArray(lines.map(({ fence }) => fence)),
  ]);
}
