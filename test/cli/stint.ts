// Runs the command `stint` as a user does: in a folder of its own, and in a process of its own if that matters.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CommandProcess } from './command-process.ts';

export const bin = fileURLToPath(new URL('../../bin/stint.js', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** They handle signals, and their logger writes to the file descriptor: each has a process of its own. */
const servers = ['serve', 'work'];
const commands = new CommandProcess();

export class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'stint-cli-'));

  /** Runs a command to its end. */
  async stint(...words: string[]): Promise<Ended> {
    if (servers.includes(words[0]!)) return this.alone(...words);
    return commands.run(this.folder, words, this.#env());
  }

  /** The same in a process of its own. */
  async alone(...words: string[]): Promise<Ended> {
    return this.start(...words).ended();
  }

  /** Starts a command that runs until it is stopped. */
  start(...words: string[]): Started {
    return new Started(this.#spawn(words));
  }

  /** The same, with more in its environment. */
  startWith(more: NodeJS.ProcessEnv, ...words: string[]): Started {
    return new Started(this.#spawn(words, more));
  }

  /** The same, after commands of the shell such as `ulimit`. */
  startInShell(before: string, ...words: string[]): Started {
    const command = ['-c', `${before} exec "$@"`, 'sh', process.execPath, bin, ...words];
    return new Started(spawn('sh', command, { cwd: this.folder, env: this.#env() }));
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(words: readonly string[], more: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [bin, ...words], { cwd: this.folder, env: { ...this.#env(), ...more } });
  }

  #env(): NodeJS.ProcessEnv {
    const { STINT_DATABASE_URL: _ours, DATABASE_URL: _theirs, ...env } = process.env;
    return { ...env, NO_COLOR: '1' };
  }
}

export class Started {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  #out = '';
  #err = '';

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout!.on('data', (bytes: Buffer) => (this.#out += bytes.toString()));
    child.stderr!.on('data', (bytes: Buffer) => (this.#err += bytes.toString()));
    this.#ended = new Promise((resolve) => child.on('close', resolve));
  }

  async ended(): Promise<Ended> {
    const code = await this.#ended;
    return { code, out: this.#out, err: this.#err };
  }

  /** Resolves with the match as soon as the output contains the pattern. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#contains(pattern, this.#child.stdout!, () => this.#out);
  }

  /** The same for errors and messages. */
  complains(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#contains(pattern, this.#child.stderr!, () => this.#err);
  }

  async #contains(pattern: RegExp, stream: Readable, text: () => string): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(text());
      if (found) return found;
      const more = new Promise((resolve) => stream.once('data', resolve));
      const end = await Promise.race([more, this.#ended.then(() => 'ended')]);
      if (end === 'ended' && !pattern.test(text()))
        throw new Error(`it ended without saying ${pattern}: ${this.#out}${this.#err}`);
    }
  }

  /** SIGKILL: the process cannot clean up. */
  async kill(): Promise<Ended> {
    this.#child.kill('SIGKILL');
    return this.ended();
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<Ended> {
    this.signal('SIGTERM');
    return this.ended();
  }
}
