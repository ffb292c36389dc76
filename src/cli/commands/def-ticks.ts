/** `stint defs ticks` and `backfill`: the past ticks of a definition, and runs for those that have none. */
import type { Command } from 'commander';
import type { Answer, RequestArguments } from '../../http/contract.ts';
import { wholeNumber } from '../number-flag.ts';
import { counted, printJson, printLine, printTable, stateCell, timeCell, type TableCell } from '../print.ts';
import { addAloneFlag } from '../run-flags.ts';
import { addApiFlags, addNamedActionFlags, reasonOf, type CommonFlags } from '../session.ts';
import { withApi } from '../with-api.ts';

interface TicksFlags extends CommonFlags {
  readonly from?: string;
  readonly to?: string;
  readonly limit: string;
}

interface BackfillFlags extends CommonFlags {
  readonly from: string;
  readonly to: string;
  readonly only?: string;
  readonly concurrency?: string;
  readonly alone?: boolean;
  readonly dryRun?: boolean;
}

export function defTicksCommands(defs: Command): void {
  addApiFlags(defs.command('ticks <name>').description('list past ticks: their runs, why they were skipped, or neither'))
    .option('--from <time>', 'the oldest tick, in ISO 8601 with a zone (default: a day before --to)')
    .option('--to <time>', 'only ticks before this time (default: now)')
    .option('--limit <n>', 'how many ticks, at most 1000', '100')
    .action(listTicks);
  addAloneFlag(addNamedActionFlags(defs.command('backfill <name>').description('create runs for the past ticks that have none')))
    .requiredOption('--from <time>', 'the oldest tick, in ISO 8601 with a zone')
    .requiredOption('--to <time>', 'only ticks before this time, not in the future')
    .option('--only <which>', 'missing: ticks without a run; all: also retry the runs that have ended (default: missing)')
    .option('--concurrency <n>', 'how many of the runs may be open at a time, at most 1000 (default: 1)')
    .option('--dry-run', 'only show how many runs it would create')
    .action(backfill);
}

const listTicks = (name: string, { from, to, limit, ...options }: TicksFlags): Promise<void> =>
  withApi(options, async (api) => {
    const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    const { items, next } = await api.call('listPastTicks', {
      params: { name }, query: { ...range, limit: wholeNumber('--limit', limit) },
    });
    if (options.json) return printJson({ items, next });
    printTable(
      ['TICK', 'IN ITS ZONE', 'OUTCOME', 'RUN', 'NOTE'],
      items.map((tick) => [timeCell(tick.nominal), tick.shown, outcomeCell(tick), tick.run, noteOf(tick)]),
    );
    if (next !== null) printLine(`Older ticks: add --to ${new Date(next).toISOString()}`);
  });

type PrintedTick = Answer<'listPastTicks'>['items'][number];

function outcomeCell({ outcome, standing }: PrintedTick): TableCell {
  return outcome === 'run' ? (standing === null ? 'run deleted' : stateCell(standing)) : outcome;
}

function noteOf({ skipped, backfill: operation, remark }: PrintedTick): string | null {
  const notes = [skipped, operation === null ? null : `backfill ${operation}`, remark];
  return notes.filter((note) => note !== null).join('; ') || null;
}

const backfill = (name: string, flags: BackfillFlags): Promise<void> =>
  withApi(flags, async (api) => {
    const plan = await api.call('backfillDef', { params: { name }, body: requestOf(flags) });
    if (flags.json) return printJson(plan);
    if (flags.dryRun) return printPlan(plan, 'would create');
    printPlan(plan, 'creates');
    return printLine(`Run ${plan.operation} creates them. Follow it: stint runs watch ${plan.operation}`);
  });

type BackfillBody = RequestArguments<'backfillDef'>['body'];

const requestOf = ({ from, to, only, concurrency, alone, dryRun, ...flags }: BackfillFlags): BackfillBody => ({
  from,
  to,
  ...(only === undefined ? {} : { only: only as BackfillBody['only'] }),
  ...(concurrency === undefined ? {} : { concurrency: wholeNumber('--concurrency', concurrency) }),
  ...(alone ? { followers: false } : {}),
  ...(dryRun ? { dryRun } : {}),
  ...reasonOf(flags),
});

function printPlan({ ticks, missing, existing, inGaps, leftToSchedule, unknown }: Answer<'backfillDef'>, verb: string): void {
  printLine(`The backfill ${verb} ${counted(missing, 'run')}: the range has ${counted(ticks, 'tick')}.`);
  if (existing > 0) printLine(`  ${counted(existing, 'run')} of them exist already`);
  if (inGaps > 0) printLine(`  ${inGaps} do not run because of a clock change`);
  if (leftToSchedule > 0) printLine(`  ${leftToSchedule} are due now and left to the schedule`);
  if (unknown > 0) printLine(`  ${unknown} may have had runs under an earlier name of the definition, and get none`);
}
