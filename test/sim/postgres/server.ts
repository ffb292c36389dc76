// The simulated server: a real PostgreSQL that executes one statement at a time, in the order of the timeline. A
// statement that waits for a lock is answered after the statement that frees the lock. Backends that wait are stopped:
// one commit may free several of them, which would otherwise go on at the same time.
import pg from 'pg';
import type { Timeline } from '../timeline.ts';
import { Backend, type Answer } from './backend.ts';
import { ServerDisk } from './disk.ts';
import { changesRows } from './statement-kind.ts';
import { idleLimitMs, virtualStatement, type Statement } from './virtual-statement.ts';

/** How long to wait for an answer before the server is asked whether the statement waits for a lock. */
const patienceMs = 3;

/** The function that adds to the inbox notifies, too. */
const notifies = /pg_notify|\.enqueue\(/;
const idleTooLong = '25P03';
const deadlock = '40P01';

export class SimulatedServer {
  readonly timeline: Timeline;
  readonly #url: string;
  /** Sees which backends wait for which, and ends backends. */
  readonly #observer: pg.Client;
  readonly #backends = new Map<number, Backend>();
  /** In the order in which they began to wait. */
  readonly #waiting = new Set<Backend>();
  readonly #deadlocked = new Set<Backend>();
  /** Called with the statements of a transaction that was committed or rolled back, and with the store time when it began. */
  onCommit: (texts: readonly string[], since: number) => Promise<void> = () => Promise.resolve();
  /** How far its clock is ahead of the timeline. */
  offsetMs = 0;
  isDown = false;
  /** Whether commits wait for a standby that does not answer: they keep their locks, and nobody sees what they write. */
  awaitsStandby = false;
  readonly disk = new ServerDisk();
  statements = 0;

  private constructor(url: string, observer: pg.Client, timeline: Timeline) {
    this.#url = url;
    this.#observer = observer;
    this.timeline = timeline;
  }

  /** The database must not be used by anything else. */
  static async on(url: string, timeline: Timeline): Promise<SimulatedServer> {
    const observer = new pg.Client({ connectionString: url });
    await observer.connect();
    const { rows } = await observer.query<{ name: string }>('select quote_ident(current_database()) as name');
    // Deadlocks are found by `#breakDeadlocks`, at once and always with the same victim.
    await observer.query(`alter database ${rows[0]!.name} set deadlock_timeout = '1h'`);
    return new SimulatedServer(url, observer, timeline);
  }

  /** Store time. */
  now(): number {
    return this.timeline.now + this.offsetMs;
  }

  get isIdle(): boolean {
    return [...this.#backends.values()].every((backend) => !backend.isInTransaction);
  }

  async connect(config: pg.ClientConfig): Promise<Backend> {
    const backend = await Backend.open({ ...config, connectionString: this.#url }, this.timeline.now);
    this.#backends.set(backend.pid, backend);
    return backend;
  }

  /** Executes a statement; `onAnswer` is called now, or when the lock is free that the statement waits for. */
  async execute(backend: Backend, given: Statement, onAnswer: (answer: Answer) => void): Promise<void> {
    if (backend.isGone) return;
    this.statements += 1;
    backend.statements += 1;
    if (!backend.isInTransaction) backend.begunAt = this.now();
    backend.idleLimitMs = idleLimitMs(given.text) ?? backend.idleLimitMs;
    if (given.text.startsWith('listen ')) backend.isListening = true;
    if (notifies.test(given.text)) backend.hasNotified = true;
    if (this.awaitsStandby && given.text === 'commit' && backend.written.length > 0) return void (backend.isHeld = true);
    if (changesRows(given.text)) backend.written.push(given.text);
    if (this.awaitsStandby && changesRows(given.text) && !backend.isInTransaction) {
      return this.#executeHeld(backend, given);
    }
    await this.#execute(backend, given, onAnswer);
  }

  /** Executes a statement whose commit waits for the standby. */
  async #executeHeld(backend: Backend, given: Statement): Promise<void> {
    await backend.execute({ text: 'begin' });
    await this.#execute(backend, given, () => {
      backend.isHeld = true;
    });
  }

  async #execute(backend: Backend, given: Statement, onAnswer: (answer: Answer) => void): Promise<void> {
    const answered = backend.execute(virtualStatement(given, { now: this.now(), isOlderThan: this.#isOlderThan }));
    backend.wait = { answered, onAnswer };
    this.#waiting.add(backend);
    await this.#settle(backend);
    if (backend.wait === null) await this.#noticeSignals(given, await answered);
    await this.#finish();
  }

  /** Ends a session, and with it its transaction. */
  async terminate(backend: Backend): Promise<void> {
    if (backend.isGone) return;
    await this.#observer.query('select pg_terminate_backend($1)', [backend.pid]);
    backend.goOn();
    await this.#forget(backend);
    await this.#finish();
  }

  /** Ends all sessions and refuses new ones. */
  async goDown(): Promise<void> {
    this.isDown = true;
    for (const backend of this.#backends.values()) await this.#expel(backend, '57P01', 'the server shuts down');
  }

  /** The standby takes over: the sessions of the server are gone, with the commits that waited for the standby. */
  async failOver(): Promise<void> {
    this.isDown = true;
    this.awaitsStandby = false;
    const backends = [...this.#backends.values()];
    // All at once: a statement that waits for the locks of another session must not go on when that one has ended.
    await this.#observer.query('select pg_terminate_backend(pid) from unnest($1::integer[]) pid', [backends.map(({ pid }) => pid)]);
    for (const backend of backends) {
      backend.goOn();
      await this.#forget(backend);
    }
  }

  /** Leaves no backend stopped, even if it fails: the real server could not be shut down. */
  async close(): Promise<void> {
    try {
      for (const backend of this.#backends.values()) await this.terminate(backend);
    } finally {
      for (const backend of this.#backends.values()) backend.goOn();
      await this.#observer.end();
    }
  }

  readonly #isOlderThan = (pid: number, ageMs: number): boolean => {
    const backend = this.#backends.get(pid);
    return backend !== undefined && backend.startedAt < this.timeline.now - ageMs;
  };

  async #expel(backend: Backend, code: string, message: string): Promise<void> {
    await this.terminate(backend);
    backend.events?.end(databaseError(code, message));
  }

  async #forget(backend: Backend): Promise<void> {
    backend.isGone = true;
    this.#backends.delete(backend.pid);
    this.#waiting.delete(backend);
    await backend.ended;
  }

  /** After a statement: those that waited for its locks go on, its notifications arrive, and its commit is read. */
  async #finish(): Promise<void> {
    // One transaction at a time: the next one goes on when the last one has been read.
    do await this.#readEnded();
    while (await this.#settleOne());
    await this.#passNotices();
  }

  async #readEnded(): Promise<void> {
    const atRest = [...this.#backends.values()].filter(({ wait, isInTransaction }) => !wait && !isInTransaction);
    const ended = atRest.filter(({ written }) => written.length > 0).toSorted((a, b) => a.begunAt - b.begunAt);
    for (const { written, begunAt } of ended) await this.onCommit(written.splice(0), begunAt);
  }

  async #settleOne(): Promise<boolean> {
    for (const backend of this.#waiting) if (await this.#settle(backend)) return true;
    return false;
  }

  /** Waits until the statement of a backend has been answered, or waits for a lock. Returns whether it was answered. */
  async #settle(backend: Backend): Promise<boolean> {
    const { answered, onAnswer } = backend.wait!;
    backend.goOn();
    for (;;) {
      const answer = await Promise.race([answered, later()]);
      if (answer !== undefined) {
        this.#waiting.delete(backend);
        backend.wait = null;
        onAnswer(this.#deadlocked.delete(backend) ? { error: databaseError(deadlock, 'deadlock detected') } : answer);
        this.#limitIdle(backend);
        return true;
      }
      if (this.#deadlocked.has(backend)) continue;
      const blockers = await this.#blockers();
      if (!blockers.has(backend.pid)) continue;
      if (!isInCycle(backend.pid, blockers)) {
        backend.stop();
        return false;
      }
      this.#deadlocked.add(backend);
      await this.#observer.query('select pg_cancel_backend($1)', [backend.pid]);
    }
  }

  /** The waiting backends, each with those for which it waits. */
  async #blockers(): Promise<ReadonlyMap<number, readonly number[]>> {
    const { rows } = await this.#observer.query<{ pid: number; blockers: number[] }>(
      `select pid, pg_blocking_pids(pid) as blockers from unnest($1::integer[]) pid`,
      [[...this.#waiting].map(({ pid }) => pid)],
    );
    return new Map(rows.filter(({ blockers }) => blockers.length > 0).map(({ pid, blockers }) => [pid, blockers]));
  }

  /** A statement that has a row may have cancelled or terminated another backend, which has noticed that when this returns. */
  async #noticeSignals({ text, values = [] }: Statement, answer: Answer): Promise<void> {
    const other = this.#backends.get(Number(values[0]));
    if (other === undefined || !/pg_(cancel|terminate)_backend/.test(text)) return;
    if (!('result' in answer) || answer.result.rows.length === 0) return;
    other.goOn();
    if (text.includes('pg_cancel_backend') && other.wait) await other.wait.answered;
    if (!text.includes('pg_terminate_backend')) return;
    await this.#forget(other);
    other.events?.end(databaseError('57P01', 'terminating connection due to administrator command'));
  }

  #limitIdle(backend: Backend): void {
    const { idleLimitMs: limitMs, statements } = backend;
    if (limitMs === undefined || !backend.isInTransaction) return;
    this.timeline.after(limitMs, async () => {
      if (backend.isGone || backend.statements !== statements) return;
      await this.#expel(backend, idleTooLong, 'terminating connection due to idle-in-transaction timeout');
    });
  }

  async #passNotices(): Promise<void> {
    const backends = [...this.#backends.values()];
    const committed = backends.filter(({ hasNotified, wait, isInTransaction }) => hasNotified && !wait && !isInTransaction);
    if (committed.length === 0) return;
    for (const backend of committed) backend.hasNotified = false;
    for (const listener of backends.filter(({ isListening, isGone }) => isListening && !isGone)) {
      for (const notice of await listener.takeNotices()) listener.events?.notify(notice);
    }
  }
}

function isInCycle(pid: number, blockers: ReadonlyMap<number, readonly number[]>): boolean {
  const seen = new Set<number>();
  const reaches = (from: number): boolean =>
    (blockers.get(from) ?? []).some((next) => {
      if (next === pid) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next);
    });
  return reaches(pid);
}

export function databaseError(code: string, message: string): pg.DatabaseError {
  const error = new pg.DatabaseError(message, message.length, 'error');
  error.code = code;
  return error;
}

const later = (): Promise<undefined> => new Promise((resolve) => void setTimeout(resolve, patienceMs, undefined));
