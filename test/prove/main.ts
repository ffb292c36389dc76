// Proves this version: npm run prove [-- --long] writes proof.json and tells it in a few lines.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { systemRandom } from '../../src/ids.ts';
import { systemClock } from '../../src/time/clock.ts';
import { version } from '../../src/version.ts';
import { huntAll } from '../mutants/hunt.ts';
import { mutants } from '../mutants/mutants.ts';
import { simulateAll } from '../sim/fleet.ts';
import { regressions } from '../sim/regressions.ts';
import { isKept, simulationProof, tellProof } from './proof.ts';
import { allStorms, type StormFigures } from './storms.ts';

const { values } = parseArgs({ options: { long: { type: 'boolean', default: false }, seed: { type: 'string' } } });
const { long: isLong } = values;
const minute = 60_000;
const everyTime = { fresh: 60, chaosMs: 89 * minute, twice: 5 };
const nightly = { fresh: 2_500, chaosMs: 120 * minute, twice: 50 };
const size = isLong ? nightly : everyTime;
const hands = Math.min(8, availableParallelism());
const firstFreshSeed = Number(values.seed ?? Math.floor(systemRandom.next() * 2 ** 30));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function simulated() {
  const fresh = Array.from({ length: size.fresh }, (_, index) => firstFreshSeed + index);
  const seeds = [...regressions.map(({ seed }) => seed), ...fresh];
  say(`simulating ${seeds.length} seeds, fresh ones from ${firstFreshSeed} on`);
  const reports = await simulateAll({ seeds, hands, chaosMs: size.chaosMs });
  const again = await simulateAll({ seeds: seeds.slice(0, size.twice), hands, chaosMs: size.chaosMs });
  return simulationProof(firstFreshSeed, reports, again);
}

async function hunted() {
  say(`hunting ${mutants.length} mutants`);
  const catches = await huntAll(mutants, { seedsMax: isLong ? 40 : 4, chaosMs: 60 * minute }, hands);
  return { tried: catches.length, caught: catches.filter(({ by }) => by !== null).length, catches };
}

async function stormed(): Promise<StormFigures[]> {
  const figures: StormFigures[] = [];
  for (const storm of await allStorms()) {
    say(`storm: ${storm.name}`);
    figures.push(await storm.run({ isLong }));
  }
  return figures;
}

function commitOf(): string | null {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString().trim();
  } catch {
    return null;
  }
}

const tried = {
  stint: version,
  node: process.version,
  commit: commitOf(),
  at: new Date(systemClock.now()).toISOString(),
  simulation: await simulated(),
  mutants: await hunted(),
  storms: await stormed(),
};
const proof = { ...tried, isKept: isKept(tried) };
writeFileSync('proof.json', `${JSON.stringify(proof, null, 2)}\n`);
process.stdout.write(`${tellProof(proof)}\n`);
if (!proof.isKept) process.exitCode = 1;
