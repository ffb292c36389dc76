/** `stint types pause`, `resume` and `pauses`: keep the jobs of a type, or of one key of it, from being claimed. */
import type { Command } from 'commander';
import { printJson, printLine, printTable, timeCell } from '../print.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { addSpreadFlag } from '../spread-flag.ts';
import { withApi } from '../with-api.ts';

interface KeyFlags extends CommonFlags {
  readonly key?: string;
}

interface ResumeFlags extends KeyFlags {
  readonly spread?: string;
}

interface PauseFlags extends KeyFlags {
  readonly why: string;
  readonly until?: string;
}

export function pauseCommands(types: Command): void {
  addNamedActionFlags(types.command('pause <name>').description('claim no jobs of a type; running jobs continue'))
    .option('--until <time>', 'end of the pause: a duration such as 2h, or a time (default: until it is resumed)')
    .option('--key <key>', 'pause only jobs with this key')
    .action(pause);
  addSpreadFlag(addNamedActionFlags(types.command('resume <name>').description('claim jobs of a paused type again'))
    .option('--key <key>', 'resume only this key'))
    .action(resume);
  addApiFlags(types.command('pauses').description('list the types and keys that are paused, or whose resume is spread')).action(list);
}

const pause = (name: string, options: PauseFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { why, until, key } = options;
    const body = { why, ...(until === undefined ? {} : { until }), ...(key === undefined ? {} : { key }) };
    const paused = await api.call('pauseType', { params: { name }, body });
    if (options.json) return printJson(paused);
    const end = paused.until === null ? 'until it is resumed' : `until ${timeCell(paused.until)}`;
    printLine(`${subject(name, key)} is paused ${end}.`);
  });

const resume = (name: string, options: ResumeFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { key, spread } = options;
    const body = { ...reasonOf(options), ...(key === undefined ? {} : { key }), ...(spread === undefined ? {} : { spread }) };
    await api.call('resumeType', { params: { name }, body });
    if (options.json) printJson({ type: name, key: key ?? null, spread: spread ?? null });
    else printLine(`${subject(name, key)} is resumed${spread === undefined ? '' : `, spread over ${spread}`}.`);
  });

const list = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('listPauses');
    if (options.json) return printJson({ items });
    printTable(
      ['TYPE', 'KEY', 'BY', 'SINCE', 'UNTIL', 'SPREAD BY', 'WHY'],
      items.map(({ type, key, by, since, until, spread, why }) =>
        [type, key, by, timeCell(since), until === null ? null : timeCell(until), spread && spread.by, why]),
    );
  });

const subject = (name: string, key: string | undefined): string =>
  (key === undefined ? name : `${name}, key ${JSON.stringify(key)},`);
