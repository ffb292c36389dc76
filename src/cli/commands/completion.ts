/** `stint completion`: prints what a shell needs to complete this command. */
import type { Command } from 'commander';
import { completionFor, shells } from '../completion.ts';

export function completionCommand(program: Command): void {
  program
    .command('completion <shell>')
    .description(`what a shell needs to complete stint: ${shells.join(', ')}`)
    .action((shell: string) => void process.stdout.write(completionFor(shell, program)));
}
