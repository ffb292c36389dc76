/** `stint defs ticks` and `backfill`: the past ticks of a definition, and runs for those that have none. */
import type { Command } from 'commander';
import type { BackfillOptions, PlannedBackfill } from '../../engine/backfill-actions.ts';
import type { BackfillOnly } from '../../engine/backfill.ts';
import type { ListedTick } from '../../engine/inspect/past-ticks.ts';
import { wholeNumber } from '../number-flag.ts';
import { counted, printJson, printLine, printTable, stateCell, timeCell, type TableCell } from '../print.ts';
import { addNamedActionFlags, addStoreFlags, attribution, withEngine, type CommonFlags } from '../session.ts';

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
  readonly dryRun?: boolean;
}

export function defTicksCommands(defs: Command): void {
  addStoreFlags(defs.command('ticks <name>').description('list past ticks: their runs, why they were skipped, or neither'))
    .option('--from <time>', 'the oldest tick, in ISO 8601 with a zone (default: a day before --to)')
    .option('--to <time>', 'only ticks before this time (default: now)')
    .option('--limit <n>', 'how many ticks, at most 1000', '100')
    .action(listTicks);
  addNamedActionFlags(defs.command('backfill <name>').description('create runs for the past ticks that have none'))
    .requiredOption('--from <time>', 'the oldest tick, in ISO 8601 with a zone')
    .requiredOption('--to <time>', 'only ticks before this time, not in the future')
    .option('--only <which>', 'missing: ticks without a run; all: also retry the runs that have ended (default: missing)')
    .option('--concurrency <n>', 'how many of the runs may be open at a time, at most 1000 (default: 1)')
    .option('--dry-run', 'only show how many runs it would create')
    .action(backfill);
}

const listTicks = (name: string, { from, to, limit, ...options }: TicksFlags): Promise<void> =>
  withEngine(options, async (engine) => {
    const page = await engine.ticks(name, {
      ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }), limit: wholeNumber('--limit', limit),
    });
    const { ticks, next } = page;
    if (options.json) return printJson({ items: ticks, next });
    printTable(
      ['TICK', 'IN ITS ZONE', 'OUTCOME', 'RUN', 'NOTE'],
      ticks.map((tick) => [timeCell(tick.nominal), tick.shown, outcomeCell(tick), tick.run, noteOf(tick)]),
    );
    if (next !== null) printLine(`Older ticks: add --to ${new Date(next).toISOString()}`);
  });

function outcomeCell({ outcome, standing }: ListedTick): TableCell {
  return outcome === 'run' ? (standing === null ? 'run deleted' : stateCell(standing)) : outcome;
}

function noteOf({ skipped, backfill: operation, remark }: ListedTick): string | null {
  const notes = [skipped, operation === null ? null : `backfill ${operation}`, remark];
  return notes.filter((note) => note !== null).join('; ') || null;
}

const backfill = (name: string, flags: BackfillFlags): Promise<void> =>
  withEngine(flags, async (engine) => {
    const options = optionsOf(flags);
    const plan = await engine.planBackfill(name, options);
    if (flags.dryRun) return flags.json ? printJson({ ...plan, operation: null }) : printPlan(plan, 'would create');
    const { id } = await engine.backfill(name, options, attribution(flags));
    if (flags.json) return printJson({ ...plan, operation: id });
    printPlan(plan, 'creates');
    return printLine(`Run ${id} creates them. Follow it: stint runs watch ${id}`);
  });

const optionsOf = ({ from, to, only, concurrency }: BackfillFlags): BackfillOptions => ({
  from,
  to,
  ...(only === undefined ? {} : { only: only as BackfillOnly }),
  ...(concurrency === undefined ? {} : { concurrency: wholeNumber('--concurrency', concurrency) }),
});

function printPlan({ ticks, missing, existing, inGaps, leftToSchedule, unknown }: PlannedBackfill, verb: string): void {
  printLine(`The backfill ${verb} ${counted(missing, 'run')}: the range has ${counted(ticks, 'tick')}.`);
  if (existing > 0) printLine(`  ${counted(existing, 'run')} of them exist already`);
  if (inGaps > 0) printLine(`  ${inGaps} do not run because of a clock change`);
  if (leftToSchedule > 0) printLine(`  ${leftToSchedule} are due now and left to the schedule`);
  if (unknown > 0) printLine(`  ${unknown} may have had runs under an earlier name of the definition, and get none`);
}
