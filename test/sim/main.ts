// Simulates seeds by hand: node test/sim/main.ts --seed 7 [--count 10] [--minutes 90] [--faults FILE]
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tellViolation } from '../../src/verify.ts';
import { simulate } from './world.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string' }, count: { type: 'string' }, minutes: { type: 'string' }, faults: { type: 'string' } },
});
const first = Number(values.seed ?? 1);
for (let seed = first; seed < first + Number(values.count ?? 1); seed++) {
  const faults = values.faults === undefined ? {} : { faults: readFileSync(values.faults, 'utf8').split('\n').filter(Boolean) };
  const minutes = values.minutes === undefined ? {} : { chaosMs: Number(values.minutes) * 60_000 };
  const start = performance.now();
  const report = await simulate(seed, { ...minutes, ...faults });
  const hours = (report.simulatedMs / 3_600_000).toFixed(2);
  const took = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`seed ${seed}: ${hours} h, ${report.faults.length} faults, ${report.jobs} jobs, ${report.commits} commits, trace ${report.trace}, ${took} s`);
  for (const found of report.violations) console.log(`  ${tellViolation(found)}`);
  for (const { n, at, by, kind, ...rest } of report.story) console.log(`    ${n} ${new Date(at).toISOString()} ${by} ${kind} ${JSON.stringify(rest).slice(0, 300)}`);
}
