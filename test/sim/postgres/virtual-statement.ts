// Converts a statement to one that reads no real clock: the time of the server is that of the timeline.
export interface Statement {
  readonly text: string;
  readonly name?: string | undefined;
  readonly values?: readonly unknown[] | undefined;
}

/** What a statement can ask about time. */
export interface ServerTime {
  /** Store time. */
  readonly now: number;
  /** Whether the backend of this process id has existed for so long. */
  readonly isOlderThan: (pid: number, ageMs: number) => boolean;
}

/** `coalesce($1::bigint, …)`: the server reads its own clock if the first parameter is null. */
const readsClock = 'coalesce($1::bigint, floor(extract(epoch from ';
/** A probe looks for a backend that is older than its second parameter. */
const comparesAge = 'backend_start < clock_timestamp() - $2';
/** A claim measures how long its scan took. */
const measuresScan = 'extract(epoch from clock_timestamp() - statement_timestamp()) * 1000';
/** The server would wait for the end of the backend, by its own clock; `SimulatedServer` waits for it instead. */
const waitsForEnd = /(pg_terminate_backend\(pid), \d+\)/;
const idleLimit = /(idle_in_transaction_session_timeout = )'(\d+)s'/;

export function virtualStatement({ text, name, values = [] }: Statement, time: ServerTime): Statement {
  let [first, second] = values;
  if (first === null && text.includes(readsClock)) first = time.now;
  if (text.includes(comparesAge)) second = time.isOlderThan(Number(first), Number(second)) ? 0 : 1e12;
  return {
    text: text.replace(measuresScan, '0.1').replace(idleLimit, `$1'0'`).replace(waitsForEnd, '$1)'),
    name,
    values: [first, second, ...values.slice(2)].slice(0, values.length),
  };
}

/** The time after which the server ends the session if the transaction that this statement begins is idle; undefined: never. */
export function idleLimitMs(text: string): number | undefined {
  const seconds = idleLimit.exec(text)?.[2];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
