/** `stint inbox`: lists the requests that programs have written in SQL, and retries or removes refused ones. */
import type { Command } from 'commander';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import {
  addActionFlags, addStoreFlags, attribution, parseId, withEngine, type CommonFlags,
} from '../session.ts';

interface InboxListOptions extends CommonFlags {
  readonly refused?: boolean;
  readonly after?: string;
  readonly limit: string;
}

export function inboxCommand(program: Command): void {
  const inbox = program.command('inbox').description('list, retry and remove requests that were written in SQL');
  addStoreFlags(inbox.command('ls').description('list requests that have not become runs, oldest first'))
    .option('--refused', 'only refused requests')
    .option('--limit <n>', 'page size', '20')
    .option('--after <id>', 'continue after this id')
    .action(list);
  addActionFlags(inbox.command('retry <id>').description('check a refused request again')).action(retry);
  addActionFlags(inbox.command('rm <id>').description('delete a request without a run')).action(remove);
}

const list = (options: InboxListOptions): Promise<void> =>
  withEngine(options, async (engine) => {
    const limit = wholeNumber('--limit', options.limit);
    const standing = options.refused ? 'refused' : undefined;
    const after = options.after === undefined ? undefined : parseId(options.after);
    const requests = await engine.inboxRequests({ standing, after, limit });
    const next = requests.length < limit ? null : requests.at(-1)!.id;
    if (options.json) return printJson({ items: requests, next });
    printTable(
      ['ID', 'WRITTEN', 'TYPE', 'REFUSED', 'CODE', 'MESSAGE'],
      requests.map(({ id, at, type, refused }) =>
        [id, timeCell(at), type, refused && timeCell(refused.at), refused?.code ?? null, refused?.message ?? null]),
    );
    if (next !== null) printLine(styled('dim', `Next page: stint inbox ls --after ${next}`));
  });

const retry = (text: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const id = parseId(text);
    await engine.retryInboxRequest(id, attribution(options));
    if (options.json) printJson({ id });
    else printLine(`Request ${id} waits again.`);
  });

const remove = (text: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const id = parseId(text);
    await engine.removeInboxRequest(id, attribution(options));
    if (options.json) printJson({ id });
    else printLine(`Request ${id} removed.`);
  });
