/** A child process of the bench that answers one order at a time. */
import { fork, type ChildProcess } from 'node:child_process';

export interface ChildOptions {
  /** What runs the module, if not this Node. */
  readonly program?: string | undefined;
  /** What it writes is kept back and shown only when it fails: programs of others like to talk. */
  readonly isQuiet?: boolean;
}

const toldMax = 2_000;

export class Child<Order extends { readonly do: string }> {
  readonly #process: ChildProcess;
  readonly #ended: Promise<number | null>;
  #told = '';

  constructor(module: string, { program = process.execPath, isQuiet = false }: ChildOptions = {}) {
    this.#process = fork(module, { execPath: program, silent: isQuiet });
    this.#ended = new Promise((resolve) => this.#process.once('exit', resolve));
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#told = `${this.#told}${chunk.toString()}`.slice(-toldMax)));
    }
  }

  async ask<Answer>(order: Order): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => {
      this.#process.once('message', (answer) => resolve(answer as Answer));
    });
    const died = this.#ended.then((code): never => {
      throw new Error(`a child process of the bench ended with code ${code} ${this.#told}`.trimEnd());
    });
    this.#process.send(order);
    return Promise.race([answered, died]);
  }

  /** One that does not go by itself when it is told to is ended. */
  async dismiss(order: Order): Promise<void> {
    if (this.#hasEnded()) return;
    await this.ask(order).catch(() => this.#process.kill());
    await this.#ended;
  }

  async kill(): Promise<void> {
    if (this.#hasEnded()) return;
    this.#process.kill('SIGKILL');
    await this.#ended;
  }

  #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }
}
