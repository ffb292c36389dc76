/** Measures Stint beside the raw limit of its stores: `npm run bench`. See README.md. */
import { writeFileSync } from 'node:fs';
import type { DatabaseName } from './target.ts';
import type { Database } from './database.ts';
import { openPostgres } from './databases/postgres.ts';
import { SqliteDatabase } from './databases/sqlite.ts';
import { thisMachine } from './machine.ts';
import { readOptions, type Options } from './options.ts';
import { closingText, headText, machineText, rowText } from './report.ts';
import type { BenchData } from './results/data.ts';
import { measure, type Row } from './rounds.ts';

/** Signals after which the bench stops its server and removes its files. */
const signals = ['SIGINT', 'SIGTERM'] as const;

async function main(options: Options): Promise<void> {
  const machine = thisMachine();
  console.log(machineText(machine));
  const databases: Record<string, string> = {};
  const rows: Row[] = [];
  for (const name of options.databases) {
    const database = await openDatabase(name, options);
    const onSignal = (): void => void database.close().finally(() => process.exit(130));
    for (const signal of signals) process.once(signal, onSignal);
    try {
      databases[name] = database.about;
      rows.push(...(await measureAll(database, options)));
    } finally {
      for (const signal of signals) process.off(signal, onSignal);
      await database.close();
    }
  }
  console.log(closingText);
  const figures: BenchData = { machine, databases, sizes: options.sizes, rows };
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
}

const openDatabase = async (name: DatabaseName, { store }: Options): Promise<Database> =>
  name === 'sqlite' ? new SqliteDatabase() : openPostgres(store);

async function measureAll(database: Database, { workloads, sizes }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  console.log(headText(database.about));
  for (const workload of workloads) {
    for await (const row of measure(database, workload, sizes)) {
      console.log(rowText(row));
      rows.push(row);
    }
  }
  return rows;
}

await main(readOptions(process.argv.slice(2)));
