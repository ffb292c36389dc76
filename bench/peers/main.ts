/** Measures Stint beside its peers: `npm run bench:peers`. See ../README.md. */
import { writeFileSync } from 'node:fs';
import { thisMachine } from '../machine.ts';
import { machineText } from '../report.ts';
import { verdictsOn } from './bars.ts';
import { take, type Failure, type Figure } from './contest.ts';
import type { Entrant } from './entrant.ts';
import { Grounds } from './grounds.ts';
import { build } from './built.ts';
import { bunIn, folderOf, install } from './install.ts';
import type { PeersData } from '../results/data.ts';
import { isOurEngine } from './ours.ts';
import { readOptions, type PeerOptions } from './options.ts';
import { entrantText, failureText, figureText, tableText, verdictText } from './report.ts';

/** What is on disk and what was started must not outlive an interrupted run. */
const signals = ['SIGINT', 'SIGTERM'] as const;

async function main(options: PeerOptions): Promise<void> {
  const machine = thisMachine();
  console.log(`${machineText(machine)}\n`);
  if (options.isBuilt && options.entrants.some(isOurEngine)) build();
  const grounds = await Grounds.open(new Set(options.entrants.map(({ ground }) => ground)), options.store);
  const onSignal = (): void => void grounds.close().finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const entrants = present(options.entrants, grounds);
    const { figures, failures } = await contest(entrants, options, grounds);
    const verdicts = verdictsOn(figures);
    console.log(`${tableText(figures)}\n`);
    for (const verdict of verdicts) console.log(verdictText(verdict));
    if (options.json !== undefined) {
      const about = [...new Set(entrants.map(({ ground }) => grounds.about(ground)!))];
      const settings = entrants.map(entrantText);
      const data: PeersData = { machine, about, settings, sizes: options.sizes, figures, failures, verdicts };
      writeFileSync(options.json, `${JSON.stringify(data, null, 2)}\n`);
    }
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await grounds.close();
  }
}

/** Those that could be installed and have their ground; of the others it is said why not. */
function present(entrants: readonly Entrant[], grounds: Grounds): Entrant[] {
  return entrants.filter((entrant) => {
    const why = absence(entrant, grounds);
    console.log(why === null ? entrantText(entrant) : `${entrant.name} is left out: ${why}`);
    return why === null;
  });
}

function absence({ ground, peer, runtime }: Entrant, grounds: Grounds): string | null {
  if (grounds.about(ground) === null) return `there is no ${ground} on this machine`;
  if (peer === 'ours') return null;
  const why = install(peer);
  if (why !== null) return why;
  return runtime === 'bun' && bunIn(folderOf(peer)) === undefined ? 'there is no Bun for this machine' : null;
}

async function contest(
  entrants: readonly Entrant[],
  { measures, sizes }: PeerOptions,
  grounds: Grounds,
): Promise<{ figures: Figure[]; failures: Failure[] }> {
  const [figures, failures]: [Figure[], Failure[]] = [[], []];
  for (const measure of measures) {
    console.log(`\n${measure.name}`);
    for await (const outcome of take(measure, entrants.filter((entrant) => measure.suits(entrant)), grounds, sizes)) {
      console.log('why' in outcome ? failureText(outcome) : figureText(outcome));
      if ('why' in outcome) failures.push(outcome);
      else figures.push(outcome);
    }
  }
  return { figures, failures };
}

await main(readOptions(process.argv.slice(2)));
