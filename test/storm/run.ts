// Storms by hand: node test/storm/run.ts [--long] [--only NAME]. Prints the figures as JSON.
import { parseArgs } from 'node:util';
import type { StormFigures } from '../prove/storms.ts';
import { storms } from './storms.ts';

const { values } = parseArgs({ options: { long: { type: 'boolean', default: false }, only: { type: 'string' } } });
const { long: isLong, only } = values;

const figures: StormFigures[] = [];
for (const storm of storms) {
  if (only === undefined || storm.name === only) figures.push(await storm.run({ isLong }));
}
console.log(JSON.stringify(figures, null, 2));
if (figures.some(({ violations }) => violations > 0)) process.exitCode = 1;
