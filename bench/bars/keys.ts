/** The drain of runs that wait on as many keys with a limit, beside the drain of runs without keys. */
import type { Database } from '../database.ts';
import { Fixture } from '../fixture.ts';
import { median } from '../median.ts';
import { measureKeys } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import type { BarSizes } from './sizes.ts';

export async function keys(database: Database, { keys: count, rounds }: BarSizes): Promise<readonly Bar[]> {
  const rate = async (distinct: number): Promise<number> => {
    const fixture = await Fixture.open(await database.createScratch('ours', false), 0);
    try {
      return (await measureKeys(fixture, distinct, count)).readings[0]!.value;
    } finally {
      await fixture.close();
    }
  };
  await rate(count); // Warms the JIT compiler.
  const plain: number[] = [];
  const keyed: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    plain.push(await rate(0));
    keyed.push(await rate(count));
  }
  const name = count.toLocaleString('en');
  return [{
    database: database.name, unit: '×', bar: { least: 0.8 },
    value: median(keyed.map((one, index) => one / plain[index]!)),
    title: `drain of ${name} runs on ${name} keys, to runs without keys`,
    from: `${median(keyed).toFixed(0)} and ${median(plain).toFixed(0)} jobs/s`,
  }];
}
