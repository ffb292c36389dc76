// Executes commands of `stint` that end by themselves in one process, which is started for the first: 0.03 s of CPU for
// each, where a process of its own takes 0.23 s.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Ended } from './stint.ts';

export interface CommandLine {
  readonly folder: string;
  readonly words: readonly string[];
  /** How many commands the process has executed. */
  readonly count: number;
}

/** Node keeps the modules of each command, 0.4 MB, as long as the process lives. */
const commandsMax = 1_000;

const program = fileURLToPath(new URL('./children/commands.ts', import.meta.url));

export class CommandProcess {
  #child: ChildProcess | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  /** Executes a command after those that were given before. */
  run(folder: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
    const ended = this.#last.then(() => this.#send({ folder, words, count: this.#count++ }, env));
    this.#last = ended.catch(() => {});
    return ended;
  }

  #send(line: CommandLine, env: NodeJS.ProcessEnv): Promise<Ended> {
    const child = (this.#child ??= this.#start(env));
    return new Promise((resolve, reject) => {
      const onExit = (code: number | null): void => reject(new Error(`stint ${line.words.join(' ')} ended its process with ${code}`));
      child.ref();
      child.channel!.ref();
      child.once('exit', onExit);
      child.once('message', (ended: Ended) => {
        child.off('exit', onExit);
        child.unref();
        child.channel!.unref();
        if (this.#count === commandsMax) this.#end(child);
        resolve(ended);
      });
      child.send(line);
    });
  }

  /** The next command has another process. */
  #end(child: ChildProcess): void {
    child.disconnect();
    this.#child = undefined;
    this.#count = 0;
  }

  /** It ends when this process ends. */
  #start(env: NodeJS.ProcessEnv): ChildProcess {
    const child = fork(program, { env, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.once('exit', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}
