/**
 * Writes RESULTS.md and its charts from the JSON files of the benches:
 * `npm run bench:results -- --bench FILE --peers FILE --bedrock FILE`. Each file is optional: sections without new
 * figures stay as they are.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chartsOf } from './charts.ts';
import type { BedrockData, BenchData, PeersData } from './data.ts';
import { resultsFolder, writeResults } from './page.ts';
import { lineName, slopeText, svgOf } from './svg.ts';

const { values } = parseArgs({
  options: {
    bench: { type: 'string' },
    peers: { type: 'string' },
    bedrock: { type: 'string' },
    into: { type: 'string', default: resultsFolder },
  },
});

const read = <Data>(file: string | undefined): Data | null =>
  file === undefined ? null : (JSON.parse(readFileSync(file, 'utf8')) as Data);

const bench = read<BenchData>(values.bench);
const charts = bench ? chartsOf(bench.rows) : [];
mkdirSync(join(values.into, 'results'), { recursive: true });
for (const chart of charts) {
  writeFileSync(join(values.into, 'results', `${chart.name}.svg`), svgOf(chart));
  const slopes = chart.lines.map((line) => `${lineName(line)} ${slopeText(line.points)}`);
  console.log(`${chart.title.padEnd(46)} slopes: ${slopes.join(', ')}`);
}
const [peers, bedrock] = [read<PeersData>(values.peers), read<BedrockData>(values.bedrock)];
writeResults({ bench, peers, bedrock, charts }, values.into);
