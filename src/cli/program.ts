/** The program: all commands of `stint`. */
import { Command, Option } from 'commander';
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
import { viewsCommand } from './commands/views.ts';
import { verifyCommand } from './commands/verify.ts';
import { workCommand } from './commands/work.ts';
import { printError } from './print.ts';
import { refuseServer } from './session.ts';

/** A wrong command or option is a refusal. */
const usageExitCode = 2;

const commands = [
  initCommand, devCommand, serveCommand, workCommand, migrateCommand, runsCommand, flowsCommand, defsCommand,
  inboxCommand, importCommand, instancesCommand, limitsCommand, alertsCommand, viewsCommand, listCommands, topCommand, doctorCommand,
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
  for (const command of leavesOf(stint)) if (!command.options.some(({ long }) => long === '--url')) addRefusedUrl(command);
  return stint;
}

const leavesOf = (command: Command): Command[] =>
  (command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf));

/** Commands that work on the database or on this machine say so, instead of an unknown option. */
const addRefusedUrl = (command: Command): Command =>
  command
    .addOption(new Option('--url <url>').hideHelp())
    .addOption(new Option('--token <token>').hideHelp())
    .hook('preAction', (_program, called) => refuseServer(called));

