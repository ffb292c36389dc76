// The report of a simulation as text.
import { violationText } from '../../src/verify.ts';
import type { SimOptions, SimReport } from './simulation.ts';

const historyMax = 40;

export function reportText({ seed, violations, history, ...figures }: SimReport): string {
  const hours = (figures.simulatedMs / 3_600_000).toFixed(2);
  const { faults, jobs, commits, trace } = figures;
  const head = `seed ${seed}: ${hours} h, ${faults.length} faults, ${jobs} jobs, ${commits} commits, trace ${trace}`;
  const events = history.slice(-historyMax).map(({ n, at, by, kind, ...rest }) =>
    `    ${n} ${new Date(at).toISOString()} ${kind} by ${by} ${JSON.stringify(rest).slice(0, 200)}`);
  return [head, ...violations.map((found) => `  ${violationText(found)}`), ...events].join('\n');
}

/** The command that replays a violation. */
export function replayCommand(seed: number, { chaosMs = 0, isQuiet }: SimOptions, faults: readonly string[]): string {
  const how = `--minutes ${chaosMs / 60_000}${isQuiet ? ' --quiet' : ''}`;
  return `node test/sim/main.ts --seed ${seed} ${how} --only '${faults.join('; ')}'`;
}
