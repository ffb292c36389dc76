/** A child process of the bench that handles one request at a time. */
import { fork, type ChildProcess } from 'node:child_process';

export interface ChildOptions {
  /** The program that executes the module. Default: this Node. */
  readonly program?: string | undefined;
  /** Captures stdout and stderr, and shows them only in the error of a failed request: peers log a lot. */
  readonly isQuiet?: boolean;
}

const outputMax = 2_000;

export class Child<Request extends { readonly do: string }> {
  readonly #process: ChildProcess;
  readonly #exit: Promise<number | null>;
  #output = '';

  constructor(module: string, { program = process.execPath, isQuiet = false }: ChildOptions = {}) {
    this.#process = fork(module, { execPath: program, silent: isQuiet });
    this.#exit = new Promise((resolve) => this.#process.once('exit', resolve));
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#output = `${this.#output}${chunk.toString()}`.slice(-outputMax)));
    }
  }

  async request<Reply>(request: Request): Promise<Reply> {
    const replied = new Promise<Reply>((resolve) => {
      this.#process.once('message', (reply) => resolve(reply as Reply));
    });
    const exited = this.#exit.then((code): never => {
      throw new Error(`a child process of the bench ended with code ${code} ${this.#output}`.trimEnd());
    });
    this.#process.send(request);
    return Promise.race([replied, exited]);
  }

  /** Sends the request that closes the child, and awaits its exit. Sends SIGTERM if the request fails. */
  async close(request: Request): Promise<void> {
    if (this.#hasExited()) return;
    await this.request(request).catch(() => this.#process.kill());
    await this.#exit;
  }

  async kill(): Promise<void> {
    if (this.#hasExited()) return;
    this.#process.kill('SIGKILL');
    await this.#exit;
  }

  #hasExited(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
