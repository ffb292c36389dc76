// A process that drives one of the clients: it gets commands and writes answers and events, one line of JSON each.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { waitMs } from '../support/patience.ts';

export interface ClientEvent {
  readonly event: 'started' | 'aborted' | 'stopped';
  readonly job?: number;
  readonly attempt?: number;
  readonly phase?: string;
  readonly reason?: string;
  readonly problem?: { readonly status: number; readonly code: string } | null;
}

/** What a client raised instead of a value. */
export class ClientProblem extends Error {
  readonly status: number;
  readonly code: string;

  constructor({ status, code, message }: { status: number; code: string; message: string }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

interface Answer {
  readonly n?: number;
  readonly value?: unknown;
  readonly problem?: { readonly status: number; readonly code: string; readonly message: string };
}

export class ClientProcess {
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #events: ClientEvent[] = [];
  #onEvent = (): void => {};
  #callCount = 0;
  /** What it printed about errors: the suite causes many, so only an unexpected end shows them. */
  #errors = '';

  constructor(command: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
    const [program, ...words] = command;
    this.#child = spawn(program!, words, { cwd, env: { ...process.env, ...env }, stdio: 'pipe' });
    this.#child.stderr!.on('data', (piece: Buffer) => (this.#errors = (this.#errors + piece.toString()).slice(-4_000)));
    this.#child.once('exit', () => this.#calls.forEach(({ reject }) => reject(this.#hasEnded())));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#read(JSON.parse(line) as Answer & ClientEvent));
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- the tests know what each command answers
  call(command: string, fields: object = {}): Promise<any> {
    const n = (this.#callCount += 1);
    const call = Promise.withResolvers<unknown>();
    this.#calls.set(n, call);
    this.#child.stdin!.write(`${JSON.stringify({ n, do: command, ...fields })}\n`);
    return call.promise;
  }

  /** Waits for the next event of this kind, and forgets it and those before it. */
  async next(event: ClientEvent['event']): Promise<ClientEvent> {
    const signal = AbortSignal.timeout(waitMs);
    for (;;) {
      const index = this.#events.findIndex((one) => one.event === event);
      if (index >= 0) return this.#events.splice(0, index + 1).at(-1)!;
      await new Promise<void>((resolve, reject) => {
        this.#onEvent = resolve;
        signal.addEventListener('abort', () => reject(new Error(`no event ${event} in time`)));
      });
    }
  }

  #hasEnded(): Error {
    return new Error(`the client has ended\n${this.#errors}`);
  }

  terminate(): void {
    this.#child.kill('SIGTERM');
  }

  async exit(): Promise<number | null> {
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return this.#child.exitCode;
  }

  async close(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'exit');
  }

  #read(line: Answer & ClientEvent): void {
    if (line.n === undefined) {
      this.#events.push(line);
      this.#onEvent();
    } else if (line.problem) this.#calls.get(line.n)!.reject(new ClientProblem(line.problem));
    else this.#calls.get(line.n)!.resolve(line.value);
  }
}
