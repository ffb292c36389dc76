// Proves this version: npm run prove [-- --long] writes proof.json and tells it in a few lines.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { systemRandom } from '../../src/random.ts';
import { systemClock } from '../../src/time/clock.ts';
import { version } from '../../src/version.ts';
import { huntAll } from '../mutants/hunt.ts';
import { mutants } from '../mutants/mutants.ts';
import { campaign } from '../sim/campaign.ts';
import { tellReport } from '../sim/tell.ts';
import type { SimReport } from '../sim/world.ts';
import { isKept, simulationProof, tellProof } from './proof.ts';
import { allStorms, type StormFigures } from './storms.ts';

const { values } = parseArgs({ options: { long: { type: 'boolean', default: false }, seed: { type: 'string' } } });
const { long: isLong } = values;
const minute = 60_000;
const size = isLong ? { fresh: 3_000, quiet: 300, twice: 50 } : { fresh: 60, quiet: 10, twice: 5 };
const hands = Math.min(8, availableParallelism());
const firstFreshSeed = Number(values.seed ?? Math.floor(systemRandom.next() * 2 ** 30));
const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function simulated() {
  say(`simulating ${size.fresh} fresh seeds from ${firstFreshSeed} on, after those that are known`);
  const { reports, again } = await campaign({ first: firstFreshSeed, ...size, hands, onReport: tellIfBroken });
  return simulationProof(firstFreshSeed, reports, again);
}

function tellIfBroken(report: SimReport): void {
  if (report.violations.length > 0) say(tellReport(report));
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
