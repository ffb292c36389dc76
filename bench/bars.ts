/**
 * Measures the costs that must not grow with the number of keys, names, types and sleeping runs, each beside its bar:
 * `node bench/bars.ts [--only sqlite,queues] [--tiny] [--json FILE] [--write]`. `--write` writes BARS.md,
 * where the bars that were not measured stay.
 * Figures that are compared come from the same run; the sides alternate.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { barMeasures } from './bars/measures.ts';
import { barsMarkdown, barText, type Bar } from './bars/bar.ts';
import { barSizes, tinyBarSizes } from './bars/sizes.ts';
import type { Database } from './database.ts';
import { openPostgres } from './databases/postgres.ts';
import { SqliteDatabase } from './databases/sqlite.ts';
import { thisMachine } from './machine.ts';
import { checkWords, select } from './options.ts';
import { machineText } from './report.ts';
import type { DatabaseName } from './target.ts';

const page = new URL('BARS.md', import.meta.url);

const databaseNames: readonly DatabaseName[] = ['sqlite', 'postgres'];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: '' },
      tiny: { type: 'boolean', default: false },
      store: { type: 'string' },
      json: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  });
  const words = values.only.split(',').filter((word) => word !== '');
  checkWords(words, [...databaseNames, ...barMeasures.map(({ name }) => name)]);
  const machine = machineText(thisMachine());
  console.log(machine);
  const bars: Bar[] = [];
  const abouts: string[] = [];
  for (const name of select(databaseNames, words, (one) => one)) {
    const database: Database = name === 'sqlite' ? new SqliteDatabase() : await openPostgres(values.store);
    abouts.push(database.about);
    console.log(`\n${database.about}`);
    try {
      for (const measured of select(barMeasures, words, (one) => one.name)) {
        for (const bar of await measured.measure(database, values.tiny ? tinyBarSizes : barSizes)) {
          console.log(barText(bar));
          bars.push(bar);
        }
      }
    } finally {
      await database.close();
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, bars }, null, 2)}\n`);
  if (values.write) writeFileSync(page, barsMarkdown([machine, ...abouts], bars, readFileSync(page, 'utf8')));
}

await main();
