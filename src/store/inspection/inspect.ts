/**
 * Executes users' SQL queries one after the other in a separate process, which serves many queries. A query may run
 * without end, and node:sqlite cannot interrupt it. At the time limit of the query the process is therefore killed, and
 * the next query starts another. Starting a process takes 0.25 s or more; a query in a running process takes about 5
 * ms.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { packagedModule } from '../../packaged-file.ts';
import { Refusal } from '../../refusal.ts';
import { systemClock } from '../../time/clock.ts';
import type { Inspection, InspectionLimits } from '../store.ts';
import type { ColumnName, InspectorOrder, InspectorReport, RowLocation } from './messages.ts';

/**
 * Sends rows to the process in pieces, if the store is not a SQLite file. The rows have only `jobID` and the columns
 * that the query reads.
 */
export interface RowSource {
  send(columns: readonly ColumnName[], sql: string, timeMs: number, write: WriteRows): Promise<void>;
}

/**
 * Sends a JSON array of SentRow to the process; resolves when the next piece can be sent. Rejects with `costly.query`
 * if the pieces of a query exceed `sentMax`.
 */
export type WriteRows = (text: string) => Promise<void>;

/** How long the process may take to start; after that the query is refused. */
const startMs = 30_000;
/** How many characters of rows are sent for one query at most; beyond this the query is refused. */
const sentMax = 268_435_456;
const program = packagedModule('./inspector', import.meta.url);

export class Inspector {
  readonly #rows: Exclude<RowLocation, 'sent'> | RowSource;
  #process: InspectorProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(rows: Exclude<RowLocation, 'sent'> | RowSource) {
    this.#rows = rows;
  }

  inspect(sql: string, limits: InspectionLimits): Promise<Inspection> {
    const inspection = this.#last.then(() => this.#inspect(sql, limits));
    this.#last = inspection.catch(() => {});
    return inspection;
  }

  close(): void {
    this.#isClosed = true;
    this.#process?.kill();
  }

  async #inspect(sql: string, limits: InspectionLimits): Promise<Inspection> {
    const report = await this.#reportOf(sql, limits);
    if (report.kind === 'found') return report.inspection;
    throw new Refusal(report.code, report.message);
  }

  /**
   * Executes a query in the running process, or in a new process if none runs. A process that was idle may end by
   * itself before it gets the query; the query is then repeated once, in a new process.
   */
  async #reportOf(sql: string, limits: InspectionLimits): Promise<LastReport> {
    if (this.#isClosed) throw new Refusal('unavailable.store', 'the store is closed');
    if (!existsSync(program)) return refused('queries are not possible in a bundle: exclude stint from the bundle');
    const reused = this.#process?.isAlive ? this.#process : null;
    const inspector = reused ?? (this.#process = new InspectorProcess());
    const report = await inspector.ask(sql, limits, this.#rows);
    const isLost = report.kind === 'ended' && reused !== null && !this.#isClosed;
    if (isLost) return this.#reportOf(sql, limits);
    return report.kind === 'ended' ? refused('the query could not be answered: its process ended') : report;
  }
}

type LastReport = Extract<InspectorReport, { kind: 'found' | 'refused' }>;
type InspectorEnding = LastReport | { readonly kind: 'ended' };

class InspectorProcess {
  readonly #child: ChildProcess;
  readonly #ready: Promise<boolean>;
  #receive = (_report: InspectorReport): void => {};
  #end = (): void => {};
  #hasEnded = false;

  constructor() {
    const stdio = ['ignore', 'ignore', 'ignore', 'ipc'] as const;
    this.#child = fork(fileURLToPath(program), { execArgv: [], serialization: 'advanced', stdio: [...stdio] });
    this.#child.on('message', (report: InspectorReport) => this.#receive(report));
    for (const end of ['error', 'exit', 'disconnect']) {
      this.#child.on(end, () => {
        this.#hasEnded = true;
        this.#end();
      });
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stopTimer = systemClock.after(startMs, () => resolve(false));
    this.#receive = () => resolve(true);
    this.#end = () => resolve(false);
    this.#ready = promise.finally(stopTimer);
  }

  get isAlive(): boolean {
    return !this.#hasEnded && !this.#child.killed;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Executes a query in the process. The time limit of the query starts when the process is ready. */
  async ask(
    sql: string,
    limits: InspectionLimits,
    rows: Exclude<RowLocation, 'sent'> | RowSource,
  ): Promise<InspectorEnding> {
    this.#setRef(true);
    if (!(await this.#ready)) {
      this.kill();
      return { kind: 'ended' };
    }
    const ending = await this.#converse(sql, limits, rows);
    if (ending.kind !== 'ended') this.#setRef(false);
    return ending;
  }

  async #converse(
    sql: string,
    { rowsMax, timeMs }: InspectionLimits,
    rows: Exclude<RowLocation, 'sent'> | RowSource,
  ): Promise<InspectorEnding> {
    const { promise, resolve, reject } = Promise.withResolvers<InspectorEnding>();
    const stopTimer = systemClock.after(timeMs, () => {
      this.kill();
      resolve(refused(`the query takes longer than ${timeMs} ms`));
    });
    this.#end = () => resolve({ kind: 'ended' });
    this.#receive = (report) => {
      if (report.kind === 'needs') this.#sendRows(rows as RowSource, report.columns, sql, timeMs).catch(reject);
      else if (report.kind !== 'ready') resolve(report);
    };
    this.#child.send({ kind: 'query', sql, rowsMax, rows: 'send' in rows ? 'sent' : rows } satisfies InspectorOrder);
    try {
      return await promise;
    } catch (error) {
      this.kill(); // the process waits for rows that will not be sent
      throw error;
    } finally {
      stopTimer();
    }
  }

  async #sendRows(source: RowSource, columns: readonly ColumnName[], sql: string, timeMs: number): Promise<void> {
    let sent = 0;
    await source.send(columns, sql, timeMs, async (text) => {
      sent += text.length;
      if (sent > sentMax) throw refusalOfRows();
      await this.#send({ kind: 'rows', text });
    });
    await this.#send({ kind: 'allSent' });
  }

  #send(order: InspectorOrder): Promise<void> {
    return new Promise((resolve) => void this.#child.send(order, () => resolve()));
  }

  /** Sets whether the child process keeps this process alive; true only while a query runs. */
  #setRef(isReferenced: boolean): void {
    for (const handle of [this.#child, this.#child.channel]) {
      if (isReferenced) handle?.ref();
      else handle?.unref();
    }
  }
}

const refused = (message: string): LastReport => ({ kind: 'refused', code: 'costly.query', message });

const refusalOfRows = (): Refusal =>
  new Refusal('costly.query', 'the query reads too many jobs: select by jobID, parentJobID or name');
