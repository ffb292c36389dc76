// A backend of the simulated server: a session of the real one, which executes what the timeline gives it.
import pg from 'pg';
import type { Statement } from './virtual-statement.ts';

export type Answer = { readonly result: pg.QueryResult } | { readonly error: Error };

/** What the other end of the connection is told. */
export interface BackendEvents {
  notify(message: { readonly channel: string; readonly payload: string }): void;
  /** The session has ended by itself: it was terminated, or was idle in a transaction for too long. */
  end(error: Error): void;
}

/** A statement that waits for a lock. */
export interface LockWait {
  readonly answered: Promise<Answer>;
  readonly onAnswer: (answer: Answer) => void;
}

export class Backend {
  readonly startedAt: number;
  readonly ended: Promise<void>;
  events: BackendEvents | null = null;
  wait: LockWait | null = null;
  /** How many statements it was given. */
  statements = 0;
  isListening = false;
  hasNotified = false;
  /** The writing statements of its transaction, and when its first statement was executed. */
  readonly written: string[] = [];
  begunAt = 0;
  /** Whether a commit of it waits for the standby. */
  isHeld = false;
  isGone = false;
  idleLimitMs: number | undefined;
  #isStopped = false;
  readonly #client: pg.Client;
  #notices: { readonly channel: string; readonly payload: string }[] = [];

  private constructor(client: pg.Client, startedAt: number) {
    this.#client = client;
    this.startedAt = startedAt;
    this.ended = new Promise<void>((resolve) => void client.once('end', () => resolve()));
    client.on('error', () => {});
    client.on('notification', ({ channel, payload = '' }) => this.#notices.push({ channel, payload }));
  }

  static async open(config: pg.ClientConfig, startedAt: number): Promise<Backend> {
    const client = new pg.Client(config);
    const backend = new Backend(client, startedAt);
    await client.connect();
    return backend;
  }

  get pid(): number {
    return (this.#client as unknown as { readonly processID: number }).processID;
  }

  get isInTransaction(): boolean {
    return (this.#client as unknown as { getTransactionStatus(): string }).getTransactionStatus() !== 'I';
  }

  /** Stops its process, while it waits for a lock. */
  stop(): void {
    this.#isStopped = true;
    process.kill(this.pid, 'SIGSTOP');
  }

  goOn(): void {
    if (this.#isStopped) process.kill(this.pid, 'SIGCONT');
    this.#isStopped = false;
  }

  /** Never rejects. */
  execute({ text, name, values }: Statement): Promise<Answer> {
    const config = { text, ...(name === undefined ? {} : { name }), ...(values?.length ? { values: [...values] } : {}) };
    return this.#client.query(config).then((result) => ({ result }), (error: Error) => ({ error }));
  }

  /** Returns the notifications that it got. The server sends them before the answer to the next statement. */
  async takeNotices(): Promise<readonly { readonly channel: string; readonly payload: string }[]> {
    await this.#client.query('');
    return this.#notices.splice(0);
  }
}
