// The Chronos check: every second since a definition was created has exactly one run that its handler has recorded, or
// a recorded skip. Each run names its tick, so the assignment is certain; extra runs are violations.
import type { Event, Job } from '../../../src/index.ts';
import { violation, type Violation } from '../../../src/verify.ts';
import type { Entry } from '../../engine/processes/children/ledger.ts';

export interface TickEvidence {
  readonly def: Job;
  readonly events: readonly Event[];
  readonly runs: readonly Job[];
  readonly ledger: readonly Entry[];
}

export interface TickReport {
  readonly violations: readonly Violation[];
  readonly ticks: number;
  readonly skips: number;
  /** Delay of the first start of each run after its tick. */
  readonly lateMs: readonly number[];
}

const second = 1_000;

export function checkSeconds({ def, events, runs, ledger }: TickEvidence): TickReport {
  const [from, to] = [def.plan!.schedules[0]!.activated, lastHandled(def)];
  const skipped = skipsOf(events);
  const byTick = Map.groupBy(runs, ({ tick }) => tick!.nominal);
  const violations: Violation[] = [];
  const lateMs: number[] = [];
  const report = (nominal: number, what: string): void => {
    const sentence = `the tick of ${new Date(nominal).toISOString()} of ${def.def} ${what}`;
    violations.push(violation('S19', def.id, sentence));
  };
  let ticks = 0;
  for (let nominal = (Math.floor(from / second) + 1) * second; nominal <= to; nominal += second) {
    ticks += 1;
    const found = byTick.get(nominal) ?? [];
    byTick.delete(nominal);
    const isSkipped = skipped.some((skip) => skip.from <= nominal && nominal <= skip.to);
    if (found.length + Number(isSkipped) !== 1) report(nominal, `has ${found.length} runs and skip is ${isSkipped}`);
    for (const { id } of found) {
      const starts = ledger.filter(({ job, what }) => job === id && what === 'start').map(({ at }) => at);
      const isDone = ledger.some(({ job, what }) => job === id && what === 'done');
      if (!isDone) report(nominal, `has run ${id}, whose handler never recorded its end`);
      if (starts.length > 0) lateMs.push(Math.min(...starts) - nominal);
    }
  }
  for (const nominal of byTick.keys()) report(nominal, 'has a run, and there is no such tick');
  return { violations, ticks, skips: skipped.length, lateMs };
}

const lastHandled = ({ plan }: Job): number => plan!.schedules[0]!.lastNominal ?? 0;

const skipsOf = (events: readonly Event[]): { readonly from: number; readonly to: number }[] =>
  events.flatMap((event) => (event.kind === 'ticked' ? event.ticks : [])).flatMap((tick) =>
    'skipped' in tick ? [{ from: tick.nominal, to: tick.to ?? tick.nominal }] : []);
