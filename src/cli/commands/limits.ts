/** `stint limits`: lists named limits with their use, overrides, pauses and reopens them, and creates and deletes limits without code. */
import type { Command } from 'commander';
import type { LimitSettings } from '../../engine/limit-actions.ts';
import type { NamedLimitView, RequestArguments } from '../../http/contract.ts';
import { Refusal } from '../../refusal.ts';
import { formatDuration } from '../../time/duration.ts';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled, timeCell } from '../print.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { addSpreadFlag } from '../spread-flag.ts';
import { withApi } from '../with-api.ts';

interface SetFlags extends CommonFlags {
  readonly rate?: string;
  readonly burst?: string;
  readonly concurrency?: string;
  readonly create?: boolean;
  readonly keyed?: boolean;
}

export function limitsCommand(program: Command): void {
  const limits = program.command('limits').description('show and override named limits');
  addApiFlags(limits.command('ls').description('list named limits and their use')).action(list);
  addApiFlags(limits.command('show <name>').description('show a limit and its most used keys')).action(show);
  addNamedActionFlags(limits.command('set <name>').description(
    'override the values of a limit; those that you leave out have the value of the code',
  ))
    .option('--rate <rate>', 'how many jobs may start per period, such as 500/1m; none: any number')
    .option('--burst <n>', 'how many jobs may start at once after a quiet time (with --rate; default: a tenth of it)')
    .option('--concurrency <n>', 'how many jobs may be running at a time; none: any number')
    .option('--create', 'create a limit that no code declares')
    .option('--keyed', 'with --create: each key has the values for itself')
    .action(set);
  addNamedActionFlags(limits.command('reset <name>').description('remove the override; the values of the code apply'))
    .action(reset);
  addNamedActionFlags(limits.command('reopen <name>').description('let jobs start again at a limit that is closed or overspent'))
    .option('--key <key>', 'reopen only this key (default: all keys)')
    .action(reopen);
  addNamedActionFlags(limits.command('pause <name>').description('start no jobs that use a limit; running jobs continue'))
    .option('--until <time>', 'end of the pause: a duration such as 2h, or a time (default: until it is resumed)')
    .action(pause);
  addSpreadFlag(addNamedActionFlags(limits.command('resume <name>').description('start jobs that use a paused limit again')))
    .action(resume);
  addNamedActionFlags(limits.command('delete <name>').description('delete a limit that no code declares')).action(remove);
}

const list = (options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => {
    const { items } = await api.call('listLimits');
    if (options.json) return printJson({ items });
    const now = api.now();
    printTable(
      ['NAME', 'RATE', 'CONCURRENCY', 'RUNNING', 'OPENS', 'OVERRIDDEN'],
      items.map(({ name, values, use: [most], override }) => [
        name, rateText(values), numberText(values.concurrency), most?.admitted ?? 0, opensText(most, now),
        override && (override.by ?? 'yes'),
      ]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => printLimit(await api.call('getLimit', { params: { name } }), api.now(), options));

const set = (name: string, options: SetFlags): Promise<void> =>
  withApi(options, async (api) => {
    if (options.keyed && !options.create) throw new Refusal('malformed.option', '--keyed needs --create: only a new limit can get keys');
    const body = { ...overrideOf(options), ...reasonOf(options) };
    const limit = options.create
      ? await api.call('createLimit', { body: { name, isKeyed: options.keyed ?? false, ...body } })
      : await api.call('overrideLimit', { params: { name }, body });
    return printLimit(limit, api.now(), options);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) =>
    printLimit(await api.call('resetLimit', { params: { name }, query: reasonOf(options) }), api.now(), options));

const reopen = (name: string, options: CommonFlags & { readonly key?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const key = options.key === undefined ? {} : { key: options.key };
    const limit = await api.call('reopenLimit', { params: { name }, body: { ...reasonOf(options), ...key } });
    return printLimit(limit, api.now(), options);
  });

const pause = (name: string, options: CommonFlags & { readonly until?: string; readonly why?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const { why, until } = options;
    if (why === undefined) throw new Refusal('malformed.option', 'cannot pause without a reason: give --why');
    const body = { why, ...(until === undefined ? {} : { until }) };
    return printLimit(await api.call('pauseLimit', { params: { name }, body }), api.now(), options);
  });

const resume = (name: string, options: CommonFlags & { readonly spread?: string }): Promise<void> =>
  withApi(options, async (api) => {
    const { spread } = options;
    const body = { ...reasonOf(options), ...(spread === undefined ? {} : { spread }) };
    return printLimit(await api.call('resumeLimit', { params: { name }, body }), api.now(), options);
  });

const remove = (name: string, options: CommonFlags): Promise<void> =>
  withApi(options, async (api) => void (await api.call('deleteLimit', { params: { name }, query: reasonOf(options) })));

function overrideOf({ rate, burst, concurrency }: SetFlags): RequestArguments<'overrideLimit'>['body'] {
  return {
    ...(rate === undefined ? {} : { rate: rate === 'none' ? null : rate }),
    ...(burst === undefined ? {} : { burst: wholeNumber('--burst', burst) }),
    ...(concurrency === undefined
      ? {}
      : { concurrency: concurrency === 'none' ? null : wholeNumber('--concurrency', concurrency) }),
  };
}

function printLimit(limit: NamedLimitView, now: number, { json }: CommonFlags): void {
  if (json) return printJson(limit);
  const { name, values, code, override, paused, spread, isKeyed, use } = limit;
  printLine(styled('bold', name));
  printLine(`  values    ${settingsText(values)}${isKeyed ? ', for each key' : ''}`);
  printLine(`  code      ${code === null ? 'does not declare it' : settingsText(code)}`);
  if (paused) printLine(`  paused    by ${paused.by}${paused.why === null ? '' : `: ${paused.why}`}`);
  if (spread) printLine(`  spread    until ${timeCell(spread.until)}, resumed by ${spread.by}${spread.why === null ? '' : `: ${spread.why}`}`);
  if (override) printLine(`  override  by ${override.by}${override.why === null ? '' : `: ${override.why}`}`);
  printTable(
    [isKeyed ? 'KEY' : '', 'RUNNING', 'OPENS'],
    use.map((each) => [each.key, each.admitted, opensText(each, now)]),
  );
}

const settingsText = (values: LimitSettings): string =>
  `rate ${rateText(values)}, concurrency ${numberText(values.concurrency)}`;

const rateText = ({ rate, burst }: LimitSettings): string => (rate === null ? 'any' : `${rate} (burst ${burst})`);

const numberText = (value: number | null): string => (value === null ? 'any' : String(value));

const opensText = (use: NamedLimitView['use'][number] | undefined, now: number): string =>
  use === undefined || use.opensAt <= now ? 'now' : `in ${formatDuration(Math.ceil((use.opensAt - now) / 1000) * 1000)}`;
