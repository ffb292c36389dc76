/** `stint completion`: prints a shell completion script. */
import type { Command } from 'commander';
import { completionFor, shells } from '../completion.ts';
import { print } from '../print.ts';

export function completionCommand(program: Command): void {
  program
    .command('completion <shell>')
    .description(`print a shell completion script: ${shells.join(', ')}`)
    .action((shell: string) => print(completionFor(shell, program)));
}
