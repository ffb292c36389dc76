/** The commands of the command line. */
import { Command } from 'commander';
import { version } from '../../version.ts';
import { defsCommand } from './commands/defs.ts';
import { lookCommands } from './commands/look.ts';
import { migrateCommand } from './commands/migrate.ts';
import { runsCommand } from './commands/runs.ts';
import { serveCommand } from './commands/serve.ts';
import { verifyCommand } from './commands/verify.ts';
import { workCommand } from './commands/work.ts';

export function program(): Command {
  const stint = new Command('stint')
    .description('Schedules jobs and runs them, on SQLite or PostgreSQL.')
    .version(version)
    .showHelpAfterError('(stint --help tells what there is)');
  const commands = [serveCommand, workCommand, migrateCommand, runsCommand, defsCommand, lookCommands, verifyCommand];
  for (const add of commands) add(stint);
  return stint;
}
