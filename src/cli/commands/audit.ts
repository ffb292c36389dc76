/** `stint audit`: what operators did. */
import type { Command } from 'commander';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { asking, parseId, withEngine, type CommonFlags } from '../session.ts';

interface AuditOptions extends CommonFlags {
  readonly action?: string;
  readonly job?: string;
  readonly by?: string;
  readonly after?: string;
  readonly limit: string;
}

export function auditCommand(program: Command): void {
  const audit = program.command('audit').description('what operators did');
  asking(audit.command('ls').description('the newest first'))
    .option('--action <name>', 'such as cancel or delete')
    .option('--job <id>', 'done to this job')
    .option('--by <name>', 'done by whom')
    .option('--limit <n>', 'how many', '20')
    .option('--after <id>', 'the page after this id')
    .action(list);
}

const list = (options: AuditOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const { action, by } = options;
    const job = options.job === undefined ? undefined : parseId(options.job);
    const page = { limit: Number(options.limit), ...(options.after === undefined ? {} : { after: parseId(options.after) }) };
    const { records, next } = await engine.jobs.audited({ action, job, by }, page);
    if (options.json) return printJson({ records, next });
    printTable(
      ['AT', 'BY', 'ACTION', 'OF', 'WHY'],
      records.map((record) => [timeCell(record.at), record.by, record.action, record.def ?? record.job, record.why]),
    );
    if (next !== null) printLine(styled('dim', `more: stint audit ls --after ${next}`));
  });
