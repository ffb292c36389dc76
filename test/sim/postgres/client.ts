// The simulated client: what the adapter and its pool use of `pg.Client`, for one process. Its line to the server delays,
// loses and breaks.
import { EventEmitter } from 'node:events';
import type pg from 'pg';
import type { ClientClass } from '../../../src/store/postgres/sql/clients.ts';
import type { SimProcess } from '../process.ts';
import type { Answer, Backend } from './backend.ts';
import type { Delivery, LineFaults } from './line-faults.ts';
import type { SimulatedServer } from './server.ts';
import { mayCommit } from './statement-kind.ts';
import type { Statement } from './virtual-statement.ts';

export interface LineParts {
  readonly server: SimulatedServer;
  readonly process: SimProcess;
  readonly faults: LineFaults;
  readonly onDeadlyReply: (process: SimProcess) => void;
  /** A reply to a statement that has committed was lost. */
  readonly onUnknownOutcome: () => void;
  /** The disk of the server has refused a statement. */
  readonly onDiskRefusal: () => void;
  /** The process got the answer to a statement that has committed something. */
  readonly onWritten: () => void;
}

/** The lines of one process. */
export type Lines = Set<SimulatedClient>;

/** The class of the clients of one process. */
export const clientClassOf = (parts: LineParts, lines: Lines): ClientClass =>
  class ClientOfProcess extends SimulatedClient {
    constructor(config: pg.ClientConfig = {}) {
      super(parts, config);
      lines.add(this);
      this.once('end', () => lines.delete(this));
    }
  } as unknown as ClientClass;

interface Query {
  readonly statement: Statement;
  readonly delivery: Delivery;
  settle(answer: Answer): void;
}

/** `silent`: the line carries nothing any more, and neither end knows. */
type LineState = 'new' | 'open' | 'silent' | 'closed';

const busy: Statement = { text: `do $$ begin raise sqlstate '40001'; end $$` };

export class SimulatedClient extends EventEmitter {
  processID: number | null = null;
  /** The pool reads both. */
  _queryable = true;
  _ending = false;
  readonly connection: { readonly stream: SimulatedSocket };
  readonly #parts: LineParts;
  readonly #config: pg.ClientConfig;
  #backend: Backend | null = null;
  #state: LineState = 'new';
  #arrivesAt = 0;
  #repliesAt = 0;
  /** Sent, and not answered. */
  #unanswered: Query[] = [];
  /** Arrived at the server, and not executed. */
  readonly #atServer: Query[] = [];
  #isEnded = false;

  constructor(parts: LineParts, config: pg.ClientConfig) {
    super();
    this.#parts = parts;
    this.#config = config;
    this.connection = { stream: new SimulatedSocket(() => this.#destroy()) };
    parts.process.onDeath(() => this.#hangUp());
  }

  connect(): Promise<this> {
    const { server, process, faults } = this.#parts;
    const [there, back] = [faults.latencyMs(), faults.latencyMs()];
    return new Promise((resolve, reject) => {
      const { connectionTimeoutMillis: limitMs = 0 } = this.#config;
      const fail = (error: Error): void => {
        stopTimer();
        this.#close(error, reject);
      };
      const stopTimer = limitMs === 0 ? () => {} : process.clock.after(limitMs, () => fail(new Error('timeout expired')));
      server.timeline.after(there, async () => {
        if (this.#state === 'closed' || !process.isAlive) return;
        if (server.isDown) return this.#later(back, () => fail(new Error('connect ECONNREFUSED')));
        this.#backend = await server.connect({ types: this.#config.types });
        this.#backend.events = { notify: (notice) => this.#passNotice(notice), end: (error) => this.#ended(error) };
        this.#state = 'open';
        this.#later(back, () => {
          stopTimer();
          this.processID = this.#backend!.pid;
          resolve(this);
        });
      });
    });
  }

  query(given: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const config = typeof given === 'string' ? { text: given } : given;
    if (!this._queryable) return Promise.reject(new Error('Client has encountered a connection error and is not queryable'));
    if (this._ending) return Promise.reject(new Error('Client was closed and is not queryable'));
    const statement = { text: config.text, name: config.name, values: values ?? config.values };
    return new Promise((resolve, reject) => {
      const limitMs = (config as { query_timeout?: number }).query_timeout ?? this.#config.query_timeout;
      const stopTimer = limitMs ? this.#parts.process.clock.after(Number(limitMs), () => {
        reject(new Error('Query read timeout'));
        if (this.#config.pipeline) this.#destroy();
      }) : () => {};
      const settle = (answer: Answer): void => {
        stopTimer();
        if ('error' in answer) reject(answer.error);
        else resolve(answer.result);
      };
      this.#send({ statement, delivery: this.#parts.faults.next(), settle });
    });
  }

  end(callback?: () => void): Promise<void> {
    const isOver = this.#isEnded || this.#state === 'new';
    const ended = isOver ? Promise.resolve() : new Promise<void>((resolve) => void this.once('end', () => resolve()));
    if (callback && isOver) queueMicrotask(callback);
    else if (callback) this.once('end', callback);
    if (!this._ending) this.#sayGoodbye();
    return ended;
  }

  ref(): void {}

  unref(): void {}

  /** The line breaks: both ends are told, the process after a while. */
  break(): void {
    if (this.#state !== 'open') return;
    const { server, process, faults } = this.#parts;
    this.#hangUp();
    server.timeline.after(faults.noticeMs(), () =>
      process.deliver(() => this.#close(new Error('Connection terminated unexpectedly'))));
  }

  /** From now on the line carries nothing, and neither end is told. */
  fallSilent(): void {
    if (this.#state === 'open') this.#state = 'silent';
  }

  /** Whether it has sent a commit that waits for the standby. */
  get hasHeldCommit(): boolean {
    return this.#backend?.isHeld ?? false;
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  #send(query: Query): void {
    const { server: { timeline }, faults } = this.#parts;
    this.#unanswered.push(query);
    this.#arrivesAt = Math.max(this.#arrivesAt, timeline.now + Math.ceil(faults.latencyMs()));
    timeline.after(this.#arrivesAt - timeline.now, () => this.#arrive(query));
  }

  async #arrive(query: Query): Promise<void> {
    if (this.#state !== 'open') return;
    if (query.delivery === 'lost request') return this.break();
    if (query.delivery === 'silent before') return this.fallSilent();
    this.#atServer.push(query);
    if (this.#atServer.length === 1) await this.#execute(query);
  }

  async #execute(query: Query): Promise<void> {
    const { delivery, statement } = query;
    const { server, onDiskRefusal } = this.#parts;
    const refusal = server.disk.refusalOf(statement);
    if (refusal !== null) onDiskRefusal();
    const executed = refusal ?? (delivery === 'busy' && takesLocks(statement) ? busy : statement);
    await server.execute(this.#backend!, executed, (answer) => this.#answered(query, answer));
  }

  #answered(query: Query, answer: Answer): void {
    const { server: { timeline }, process, faults, onDeadlyReply, onWritten } = this.#parts;
    this.#atServer.shift();
    const [next] = this.#atServer;
    if (next !== undefined) timeline.after(0, () => this.#execute(next));
    else if (this.#state === 'closed') return this.#hangUp();
    const latencyMs = faults.latencyMs();
    if (this.#state !== 'open') return;
    // In a transaction nothing is committed before its end.
    const hasCommitted = 'result' in answer && mayCommit(query.statement.text) && !this.#backend!.isInTransaction;
    if (/lost reply|silent after/.test(query.delivery) && hasCommitted) this.#parts.onUnknownOutcome();
    if (query.delivery === 'lost reply') return this.break();
    if (query.delivery === 'silent after') return this.fallSilent();
    if (query.delivery === 'deadly reply') return void timeline.after(latencyMs, () => onDeadlyReply(process));
    this.#later(latencyMs, () => {
      this.connection.stream.bytesRead += 1;
      this.#unanswered = this.#unanswered.filter((each) => each !== query);
      query.settle(answer);
      if (hasCommitted) onWritten();
      if (this.#unanswered.length === 0) this.emit('drain');
    });
  }

  #passNotice(notice: { readonly channel: string; readonly payload: string }): void {
    const ms = this.#parts.faults.latencyMs();
    if (this.#state === 'open') this.#later(ms, () => void this.emit('notification', notice));
  }

  /** What the server sends arrives in order, if the line still carries something. */
  #later(ms: number, deliver: () => void): void {
    const { server: { timeline }, process } = this.#parts;
    this.#repliesAt = Math.max(this.#repliesAt, timeline.now + Math.ceil(ms));
    timeline.after(this.#repliesAt - timeline.now, () => process.deliver(() => {
      if (this.#state === 'open' || this.#state === 'new') deliver();
    }));
  }

  #ended(error: Error): void {
    const ms = this.#parts.faults.latencyMs();
    if (this.#state === 'open') this.#later(ms, () => this.#close(error));
  }

  #sayGoodbye(): void {
    this._ending = true;
    if (!this._queryable) return this.#destroy();
    if (this.#unanswered.length === 0) return this.#partInPeace();
    if (this.#config.pipeline) this.once('drain', () => this.#partInPeace());
    else this.#destroy();
  }

  #partInPeace(): void {
    const { server, faults } = this.#parts;
    const ms = faults.latencyMs();
    if (this.#state === 'new') return this.#close(new Error('Connection terminated'));
    server.timeline.after(ms, async () => {
      if (this.#state !== 'open') return;
      await server.terminate(this.#backend!);
      this.#later(faults.latencyMs(), () => this.#close(new Error('Connection terminated')));
    });
  }

  /** The process closes the socket; a server that hears nothing of this line is not told. */
  #destroy(): void {
    if (this.#state === 'open') this.#hangUp();
    queueMicrotask(() => this.#close(new Error('Connection terminated unexpectedly')));
  }

  /** The server learns that the line is closed: when its statement is over, it ends the session. */
  #hangUp(): void {
    const { server, faults } = this.#parts;
    const wasOpen = this.#state === 'open' || this.#state === 'closed';
    this.#state = 'closed';
    const backend = this.#backend;
    if (!wasOpen || backend === null || backend.isGone) return;
    server.timeline.after(faults.latencyMs(), async () => {
      if (backend.wait === null) await server.terminate(backend);
    });
  }

  #close(error: Error, onError?: (error: Error) => void): void {
    this.#state = 'closed';
    if (this.#isEnded) return;
    this.#isEnded = true;
    this._queryable = false;
    for (const query of this.#unanswered.splice(0)) query.settle({ error });
    if (onError) onError(error);
    else if (!this._ending) this.emit('error', error);
    this.emit('end');
  }
}

/** What the adapter uses of a socket. */
class SimulatedSocket {
  bytesRead = 0;
  readonly destroy: () => void;
  readonly resetAndDestroy: () => void;

  constructor(destroy: () => void) {
    this.destroy = destroy;
    this.resetAndDestroy = destroy;
  }

  cork(): void {}

  uncork(): void {}
}

/** Only such statements can fail because others are busy with the same rows. */
const takesLocks = ({ text }: Statement): boolean => /\b(insert|update|delete)\b/.test(text);
