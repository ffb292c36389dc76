// A member: one instance in a process of its own, and its end.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { InstanceOptions } from './children/instance.ts';

const program = fileURLToPath(new URL('./children/instance.ts', import.meta.url));

/** Options of every program of an instance. */
export type MemberOptions = Pick<InstanceOptions, 'instance' | 'flags'>;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const outputMax = 100_000;

export class Member {
  readonly instance: string;
  readonly exit: Promise<Exit>;
  /** Whether the process is gone and its output is complete. */
  hasExited = false;
  /** The end of what it printed: more than a test makes its instances log, however long it takes. */
  output = '';
  readonly #child: ChildProcess;

  constructor(options: InstanceOptions, ledger: string);
  /** An instance that is another program. */
  constructor(options: MemberOptions, ledger: string, file: string);
  constructor(options: MemberOptions, ledger: string, file = program) {
    this.instance = options.instance;
    const env = { ...process.env, STINT_LEDGER: ledger, STINT_INSTANCE: options.instance };
    const values = [...(options.flags ?? []), file, JSON.stringify(options)];
    this.#child = spawn(process.execPath, values, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (piece: Buffer) => (this.output = (this.output + piece.toString()).slice(-outputMax)));
    }
    this.exit = once(this.#child, 'exit').then(([code, signal]) => ({ code, signal }));
    this.#child.once('close', () => (this.hasExited = true));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends the signal and waits until the process is gone. */
  end(signal: NodeJS.Signals): Promise<Exit> {
    this.signal(signal);
    return this.exit;
  }
}
