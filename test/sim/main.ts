// Simulates from the command line: node test/sim/main.ts --seed 7 [--count 10] [--minutes 90] [--quiet] [--postgres]
// [--only 'crash 1; pause 3']
import { parseArgs } from 'node:util';
import { startSimulationServer } from './postgres/database.ts';
import { reportText } from './report.ts';
import { simulate } from './simulation.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { seed: text, count: text, minutes: text, only: text, quiet: flag, postgres: flag } });
const first = Number(values.seed ?? 1);
const parseFaults = (list: string): string[] => list.split(';').map((name) => name.trim()).filter(Boolean);
const only = values.only === undefined ? {} : { faults: parseFaults(values.only) };
const chaos = values.minutes === undefined ? {} : { chaosMs: Number(values.minutes) * 60_000 };
const server = values.postgres ? await startSimulationServer() : null;
const place = server === null ? {} : { postgresServer: server.url };

for (let seed = first; seed < first + Number(values.count ?? 1); seed++) {
  const report = await simulate(seed, { ...chaos, ...only, ...place, isQuiet: values.quiet });
  console.log(reportText(report));
  if (report.violations.length > 0) process.exitCode = 1;
}
await server?.stop();
