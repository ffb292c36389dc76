/** `stint audit`: lists who did what, when and why. */
import type { Command } from 'commander';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addStoreFlags, parseId, withEngine, type CommonFlags } from '../session.ts';

interface AuditOptions extends CommonFlags {
  readonly action?: string;
  readonly job?: string;
  readonly by?: string;
  readonly after?: string;
  readonly limit: string;
}

export function auditCommand(program: Command): void {
  const audit = program.command('audit').description('list recorded operator actions');
  addStoreFlags(audit.command('ls').description('list actions, newest first'))
    .option('--action <name>', 'only this action, such as cancel or delete')
    .option('--job <id>', 'only actions on this job')
    .option('--by <name>', 'only actions by this user')
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
}

const list = (options: AuditOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const { action, by } = options;
    const job = options.job === undefined ? undefined : parseId(options.job);
    const after = options.after === undefined ? {} : { after: parseId(options.after) };
    const page = { limit: wholeNumber('--limit', options.limit), ...after };
    const { records, next } = await engine.jobs.audited({ action, job, by }, page);
    if (options.json) return printJson({ items: records, next });
    printTable(
      ['AT', 'BY', 'ACTION', 'TARGET', 'REASON'],
      records.map((record) => [timeCell(record.at), record.by, record.action, record.def ?? record.job, record.why]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint audit ls --after ${next}`));
  });
