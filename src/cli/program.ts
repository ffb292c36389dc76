/** The program: all commands of `stint`. */
import { Command } from 'commander';
import { version } from '../version.ts';
import { auditCommand } from './commands/audit.ts';
import { backupCommand } from './commands/backup.ts';
import { benchCommand } from './commands/bench.ts';
import { completionCommand } from './commands/completion.ts';
import { defsCommand } from './commands/defs.ts';
import { devCommand } from './commands/dev.ts';
import { doctorCommand } from './commands/doctor.ts';
import { flowsCommand } from './commands/flows.ts';
import { importCommand } from './commands/import.ts';
import { inboxCommand } from './commands/inbox.ts';
import { initCommand } from './commands/init.ts';
import { instancesCommand } from './commands/instances.ts';
import { alertsCommand } from './commands/alerts.ts';
import { limitsCommand } from './commands/limits.ts';
import { listCommands } from './commands/lists.ts';
import { migrateCommand } from './commands/migrate.ts';
import { runsCommand } from './commands/runs.ts';
import { serveCommand } from './commands/serve.ts';
import { tokensCommand } from './commands/tokens.ts';
import { topCommand } from './commands/top.ts';
import { verifyCommand } from './commands/verify.ts';
import { workCommand } from './commands/work.ts';
import { printError } from './print.ts';

/** A wrong command or option is a refusal. */
const usageExitCode = 2;

const commands = [
  initCommand, devCommand, serveCommand, workCommand, migrateCommand, runsCommand, flowsCommand, defsCommand,
  inboxCommand, importCommand, instancesCommand, limitsCommand, alertsCommand, listCommands, topCommand, doctorCommand,
  verifyCommand, backupCommand, auditCommand, tokensCommand, benchCommand, completionCommand,
];

export function program(): Command {
  const stint = new Command('stint')
    .description('Schedule and run jobs on SQLite or PostgreSQL.')
    .version(version)
    .configureOutput({ outputError: (text) => printError(text.replace(/^error: /, 'stint: ').trimEnd()) })
    .showHelpAfterError('(--help lists the commands, and after a command its options)')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExitCode));
  for (const add of commands) add(stint);
  return stint;
}
