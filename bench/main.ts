/** Measures Stint beside the raw limit of its stores: `npm run bench`. See README.md beside this file. */
import { writeFileSync } from 'node:fs';
import type { EngineName } from './contender.ts';
import type { Engine } from './engine.ts';
import { openPostgres } from './engines/postgres.ts';
import { SqliteEngine } from './engines/sqlite.ts';
import { thisMachine } from './machine.ts';
import { readOptions, type Options } from './options.ts';
import { closingText, headText, machineText, rowText } from './report.ts';
import type { BenchData } from './results/data.ts';
import { measure, type Row } from './rounds.ts';

/** What is on disk and what was started must not outlive an interrupted run. */
const signals = ['SIGINT', 'SIGTERM'] as const;

async function main(options: Options): Promise<void> {
  const machine = thisMachine();
  console.log(machineText(machine));
  const engines: Record<string, string> = {};
  const rows: Row[] = [];
  for (const name of options.engines) {
    const engine = await openEngine(name, options);
    const onSignal = (): void => void engine.close().finally(() => process.exit(130));
    for (const signal of signals) process.once(signal, onSignal);
    try {
      engines[name] = engine.about;
      rows.push(...(await measureAll(engine, options)));
    } finally {
      for (const signal of signals) process.off(signal, onSignal);
      await engine.close();
    }
  }
  console.log(closingText);
  const figures: BenchData = { machine, engines, sizes: options.sizes, rows };
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
}

const openEngine = async (name: EngineName, { store }: Options): Promise<Engine> =>
  name === 'sqlite' ? new SqliteEngine() : openPostgres(store);

async function measureAll(engine: Engine, { workloads, sizes }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  console.log(headText(engine.about));
  for (const workload of workloads) {
    for await (const row of measure(engine, workload, sizes)) {
      console.log(rowText(row));
      rows.push(row);
    }
  }
  return rows;
}

await main(readOptions(process.argv.slice(2)));
