/** `stint inbox`: lists the requests that programs have written in SQL, and retries or removes refused ones. */
import type { Command } from 'commander';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addActionFlags, addApiFlags, parseId, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

interface InboxListOptions extends CommonFlags {
  readonly refused?: boolean;
  readonly after?: string;
  readonly limit: string;
}

export function inboxCommand(program: Command): void {
  const inbox = program.command('inbox').description('list, retry and remove requests that were written in SQL');
  addApiFlags(inbox.command('ls').description('list requests that have not become runs, oldest first'))
    .option('--refused', 'only refused requests')
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
  addActionFlags(inbox.command('retry <id>').description('check a refused request again')).action(retry);
  addActionFlags(inbox.command('rm <id>').description('delete a request without a run')).action(remove);
}

const list = (options: InboxListOptions): Promise<void> =>
  withApi(options, async (api) => {
    const { items, next } = await api.call('listInbox', {
      query: {
        limit: wholeNumber('--limit', options.limit),
        ...(options.refused ? { standing: 'refused' } : {}),
        ...(options.after === undefined ? {} : { after: parseId(options.after) }),
      },
    });
    if (options.json) return printJson({ items, next });
    printTable(
      ['ID', 'WRITTEN', 'TYPE', 'REFUSED', 'CODE', 'MESSAGE'],
      items.map(({ id, at, type, refused }) =>
        [id, timeCell(at), type, refused && timeCell(refused.at), refused?.code ?? null, refused?.message ?? null]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint inbox ls --after ${next}`));
  });

const retry = (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const id = parseId(text);
    await api.call('retryInboxRequest', { params: { id }, body: reasonOf(options) });
    if (options.json) printJson({ id });
    else printLine(`Request ${id} waits again.`);
  });

const remove = (text: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const id = parseId(text);
    await api.call('removeInboxRequest', { params: { id }, query: reasonOf(options) });
    if (options.json) printJson({ id });
    else printLine(`Request ${id} removed.`);
  });
