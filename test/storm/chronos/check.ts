// The Chronos checker: every second since a definition was made has exactly one run that was there, by its own word, or
// a recorded skip. Which run answers which tick is known, so that nothing need be guessed; extra runs are violations.
import type { Event, Job } from '../../../src/index.ts';
import { violation, type Violation } from '../../../src/verify.ts';
import type { Entry } from '../../engine/processes/children/ledger.ts';

export interface Chronicle {
  readonly def: Job;
  readonly events: readonly Event[];
  readonly runs: readonly Job[];
  readonly ledger: readonly Entry[];
}

export interface TickReport {
  readonly violations: readonly Violation[];
  readonly ticks: number;
  readonly skips: number;
  /** How long after its tick each run first started. */
  readonly lateMs: readonly number[];
}

const second = 1_000;

export function checkSeconds({ def, events, runs, ledger }: Chronicle): TickReport {
  const [from, to] = [def.plan!.schedules[0]!.activated, lastAnswered(def)];
  const skipped = skipsOf(events);
  const byTick = Map.groupBy(runs, ({ tick }) => tick!.nominal);
  const violations: Violation[] = [];
  const lateMs: number[] = [];
  const find = (nominal: number, what: string): void => {
    const sentence = `the tick of ${new Date(nominal).toISOString()} of ${def.def} ${what}`;
    violations.push(violation('S19', def.id, sentence));
  };
  let ticks = 0;
  for (let nominal = (Math.floor(from / second) + 1) * second; nominal <= to; nominal += second) {
    ticks += 1;
    const answers = byTick.get(nominal) ?? [];
    byTick.delete(nominal);
    const isSkipped = skipped.some((skip) => skip.from <= nominal && nominal <= skip.to);
    if (answers.length + Number(isSkipped) !== 1) find(nominal, `has ${answers.length} runs and skip is ${isSkipped}`);
    for (const { id } of answers) {
      const starts = ledger.filter(({ job, what }) => job === id && what === 'start').map(({ at }) => at);
      const isDone = ledger.some(({ job, what }) => job === id && what === 'done');
      if (!isDone) find(nominal, `has run ${id}, which never said that it was there`);
      if (starts.length > 0) lateMs.push(Math.min(...starts) - nominal);
    }
  }
  for (const nominal of byTick.keys()) find(nominal, 'has a run, and there is no such tick');
  return { violations, ticks, skips: skipped.length, lateMs };
}

const lastAnswered = ({ plan }: Job): number => plan!.schedules[0]!.lastNominal ?? 0;

const skipsOf = (events: readonly Event[]): { readonly from: number; readonly to: number }[] =>
  events.flatMap((event) => (event.kind === 'ticked' ? event.ticks : [])).flatMap((tick) =>
    'skipped' in tick ? [{ from: tick.nominal, to: tick.to ?? tick.nominal }] : []);
