/** `stint audit`: lists who did what, when and why. */
import type { Command } from 'commander';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addApiFlags, parseId, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

interface AuditOptions extends CommonFlags {
  readonly action?: string;
  readonly job?: string;
  readonly by?: string;
  readonly after?: string;
  readonly limit: string;
}

export function auditCommand(program: Command): void {
  const audit = program.command('audit').description('list recorded operator actions');
  addApiFlags(audit.command('ls').description('list actions, newest first'))
    .option('--action <name>', 'only this action, such as cancel or delete')
    .option('--job <id>', 'only actions on this job')
    .option('--by <name>', 'only actions by this user')
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
}

const list = ({ by, ...options }: AuditOptions): Promise<void> =>
  withApi(options, async (api) => {
    const { items, next } = await api.call('audit', {
      query: {
        limit: wholeNumber('--limit', options.limit),
        ...(options.action === undefined ? {} : { action: options.action }),
        ...(options.job === undefined ? {} : { job: parseId(options.job) }),
        ...(by === undefined ? {} : { by }),
        ...(options.after === undefined ? {} : { after: parseId(options.after) }),
      },
    });
    if (options.json) return printJson({ items, next });
    printTable(
      ['AT', 'BY', 'ACTION', 'TARGET', 'REASON'],
      items.map((record) => [timeCell(record.at), record.by, record.action, record.def ?? record.job, record.why]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint audit ls --after ${next}`));
  });
