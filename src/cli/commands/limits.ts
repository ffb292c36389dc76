/** `stint limits`: lists named limits with their use, overrides their values, and creates limits without code. */
import type { Command } from 'commander';
import type { LimitOverride, LimitSettings, LimitStatus } from '../../engine/limit-actions.ts';
import { formatDuration } from '../../time/duration.ts';
import { wholeNumber } from '../number-flag.ts';
import { printJson, printLine, printTable, styled } from '../print.ts';
import { addNamedActionFlags, addStoreFlags, attribution, withEngine, type CommonFlags } from '../session.ts';

interface SetFlags extends CommonFlags {
  readonly rate?: string;
  readonly burst?: string;
  readonly concurrency?: string;
  readonly create?: boolean;
  readonly keyed?: boolean;
}

export function limitsCommand(program: Command): void {
  const limits = program.command('limits').description('show and override named limits');
  addStoreFlags(limits.command('ls').description('list named limits and their use')).action(list);
  addStoreFlags(limits.command('show <name>').description('show a limit and its most used keys')).action(show);
  addNamedActionFlags(limits.command('set <name>').description(
    'override the values of a limit; those that you leave out have the value of the code',
  ))
    .option('--rate <rate>', 'how many jobs may start per period, such as 500/1m; none: any number')
    .option('--burst <n>', 'how many jobs may start at once after a quiet time (default: a tenth of the rate)')
    .option('--concurrency <n>', 'how many jobs may be running at a time; none: any number')
    .option('--create', 'create a limit that no code declares')
    .option('--keyed', 'with --create: each key has the values for itself')
    .action(set);
  addNamedActionFlags(limits.command('reset <name>').description('remove the override; the values of the code apply'))
    .action(reset);
}

const list = (options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const limits = await engine.limits();
    if (options.json) return printJson({ items: limits });
    const now = engine.now();
    printTable(
      ['NAME', 'RATE', 'CONCURRENCY', 'RUNNING', 'OPENS', 'OVERRIDDEN'],
      limits.map(({ name, values, use: [most], override }) => [
        name, rateText(values), numberText(values.concurrency), most?.admitted ?? 0, opensText(most, now),
        override && (override.by ?? 'yes'),
      ]),
    );
  });

const show = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) => printLimit(await engine.limit(name), engine.now(), options));

const set = (name: string, options: SetFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const override = overrideOf(options);
    const limit = options.create
      ? await engine.defineLimit(name, { ...override, isKeyed: options.keyed ?? false }, attribution(options))
      : await engine.overrideLimit(name, override, attribution(options));
    return printLimit(limit, engine.now(), options);
  });

const reset = (name: string, options: CommonFlags): Promise<void> =>
  withEngine(options, async (engine) =>
    printLimit(await engine.overrideLimit(name, null, attribution(options)), engine.now(), options));

function overrideOf({ rate, burst, concurrency }: SetFlags): LimitOverride {
  return {
    ...(rate === undefined ? {} : { rate: rate === 'none' ? null : rate }),
    ...(burst === undefined ? {} : { burst: wholeNumber('--burst', burst) }),
    ...(concurrency === undefined
      ? {}
      : { concurrency: concurrency === 'none' ? null : wholeNumber('--concurrency', concurrency) }),
  };
}

function printLimit(limit: LimitStatus, now: number, { json }: CommonFlags): void {
  if (json) return printJson(limit);
  const { name, values, code, override, isKeyed, use } = limit;
  printLine(styled('bold', name));
  printLine(`  values    ${settingsText(values)}${isKeyed ? ', for each key' : ''}`);
  printLine(`  code      ${code === null ? 'does not declare it' : settingsText(code)}`);
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

const opensText = (use: LimitStatus['use'][number] | undefined, now: number): string =>
  use === undefined || use.opensAt <= now ? 'now' : `in ${formatDuration(Math.ceil((use.opensAt - now) / 1000) * 1000)}`;
