/** `stint dev`: the server for development. It restarts when a file of the jobs changes. */
import { spawn } from 'node:child_process';
import type { Command } from 'commander';

/** Node restarts a process when a module that it has imported changes, and waits for a change if the process fails. */
const watching = ['--watch', '--watch-preserve-output'];

export function devCommand(program: Command): void {
  program
    .command('dev')
    .description('serve jobs.ts, and restart when it or a module that it imports changes; takes the options of serve')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((_, { args }: Command) => dev(args));
}

async function dev(args: readonly string[]): Promise<void> {
  const jobs = args.some((word) => word === '--jobs' || word.startsWith('--jobs=')) ? [] : ['--jobs', 'jobs.ts'];
  const child = spawn(process.execPath, [...watching, process.argv[1]!, 'serve', ...jobs, ...args], { stdio: 'inherit' });
  // The terminal sends SIGINT to both processes; this one ends with the server, after its drain.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  process.exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject).once('exit', (code) => resolve(code ?? 0));
  });
}
