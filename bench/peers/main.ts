/** Measures Stint beside its peers: `npm run bench:peers`. See ../README.md. */
import { writeFileSync } from 'node:fs';
import { thisMachine } from '../machine.ts';
import { MachineSpeed } from '../machine-speed.ts';
import { machineText } from '../report.ts';
import { verdictsOn } from './goals.ts';
import { compare, type Failure, type Figure } from './comparison.ts';
import { batchTablesOf, flowTablesOf } from './flow-tables.ts';
import { cacheCompiled } from './compile-cache.ts';
import type { Peer } from './peer.ts';
import { PeerDatabases } from './peer-databases.ts';
import { peerProcessModule } from './peer-fixture.ts';
import { buildPackage } from './stint-package.ts';
import { bunIn, folderOf, install } from './install.ts';
import type { PeersData } from '../results/data.ts';
import { writeResults } from '../results/page.ts';
import { isTakenOf } from './measure.ts';
import { isOurs } from './ours.ts';
import { readOptions, type PeerOptions } from './options.ts';
import { detailsText, peerText, failureText, figureText, flowNotesOf, tableText, verdictText } from './report.ts';

/** Signals after which the bench stops its servers and removes its files. */
const signals = ['SIGINT', 'SIGTERM'] as const;

async function main(options: PeerOptions): Promise<void> {
  const machine = thisMachine();
  console.log(`${machineText(machine)}\n`);
  if (options.isCompiled) cacheCompiled(peerProcessModule);
  if (options.isCompiled && options.peers.some(isOurs)) buildPackage();
  const databases = await PeerDatabases.open(new Set(options.peers.map(({ database }) => database)), options.store);
  const onSignal = (): void => void databases.close().finally(() => process.exit(130));
  for (const signal of signals) process.once(signal, onSignal);
  try {
    const peers = available(options.peers, databases);
    const { figures, failures } = await compareAll(peers, options, databases);
    const verdicts = verdictsOn(figures);
    console.log(`${tableText(figures)}\n${detailsText([...flowTablesOf(figures), ...batchTablesOf(figures)])}\n`);
    for (const verdict of verdicts) console.log(verdictText(verdict));
    const about = [...new Set(peers.map(({ database }) => databases.about(database)!))];
    const texts = { about, settings: peers.map(peerText), flowNotes: flowNotesOf(peers) };
    const data: PeersData = { machine, ...texts, sizes: options.sizes, figures, failures, verdicts };
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(data, null, 2)}\n`);
    if (options.isWritten) writeResults({ peers: data });
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    await databases.close();
  }
}

/** Returns the peers that can be measured here, and prints for the others why they are left out. */
function available(peers: readonly Peer[], databases: PeerDatabases): Peer[] {
  return peers.filter((peer) => {
    const why = reasonAbsent(peer, databases);
    console.log(why === null ? peerText(peer) : `${peer.name} is left out: ${why}`);
    return why === null;
  });
}

function reasonAbsent({ database, package: source, runtime }: Peer, databases: PeerDatabases): string | null {
  if (databases.about(database) === null) return `there is no ${database} on this machine`;
  if (source === 'ours') return null;
  const why = install(source);
  if (why !== null) return why;
  return runtime === 'bun' && bunIn(folderOf(source)) === undefined ? 'there is no Bun for this machine' : null;
}

async function compareAll(
  peers: readonly Peer[],
  { measures, sizes }: PeerOptions,
  databases: PeerDatabases,
): Promise<{ figures: Figure[]; failures: Failure[] }> {
  const [figures, failures]: [Figure[], Failure[]] = [[], []];
  const speed = new MachineSpeed();
  for (const measure of measures) {
    console.log(`\n${measure.name}`);
    const measured = peers.filter((peer) => isTakenOf(measure, peer));
    for await (const outcome of compare(measure, measured, databases, sizes, speed)) {
      console.log('why' in outcome ? failureText(outcome) : figureText(outcome));
      if ('why' in outcome) failures.push(outcome);
      else figures.push(outcome);
    }
  }
  return { figures, failures };
}

await main(readOptions(process.argv.slice(2)));
