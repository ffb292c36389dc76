// A process that executes commands of `stint` one after the other, each in its own folder, with an exit code and output
// of its own. It runs src/cli/main.ts as bin/stint.js does.
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandLine } from '../command-process.ts';
import type { Ended } from '../stint.ts';

const exit = process.exit.bind(process);
process.on('disconnect', () => exit());
process.on('message', (line: CommandLine) => void execute(line).then((ended) => process.send!(ended)));

async function execute({ folder, words, count }: CommandLine): Promise<Ended> {
  process.chdir(folder);
  process.argv = [process.execPath, 'stint', ...words];
  process.exitCode = undefined;
  const outcome = new Outcome();
  const held = resources();
  // The query makes it another module, which is executed again. The bundle of the sources has it without one.
  await import(`../../../src/cli/main.ts${count === 0 ? '' : `?${count}`}`);
  // A process of its own would not end before either.
  while (outcome.exitCode === undefined && resources() > held) await sleep(1);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error');
  return { code: outcome.exitCode ?? Number(process.exitCode ?? 0), out: outcome.out, err: outcome.err };
}

/** The number of timers, sockets, files and so on that keep this process alive. */
const resources = (): number => process.getActiveResourcesInfo().length;

/** What the process prints from now on, up to a call of `process.exit`. */
class Outcome {
  out = '';
  err = '';
  exitCode: number | undefined;

  constructor() {
    this.#read(process.stdout, (text) => (this.out += text));
    this.#read(process.stderr, (text) => (this.err += text));
    process.exit = (code) => {
      this.exitCode ??= Number(code ?? process.exitCode ?? 0);
      throw new Error('the command has ended');
    };
  }

  #read(stream: NodeJS.WriteStream, add: (text: string) => void): void {
    stream.write = (text: string | Uint8Array): boolean => {
      if (this.exitCode === undefined) add(typeof text === 'string' ? text : Buffer.from(text).toString());
      return true;
    };
  }
}
