/**
 * Allocates objects of which some survive, and prints the size of V8's young generation: while a worker claims many jobs
 * (`no jobs`: none), and after it has become idle. `few jobs`: prints how often a flag of V8 changes while it claims few
 * jobs.
 */
import v8 from 'node:v8';
import { Worker } from 'node:worker_threads';
import { BoundedYoungGeneration } from '../../../../src/open/bounded-young-generation.ts';

const young = new BoundedYoungGeneration();
if (process.argv.includes('with a thread')) new Worker('setInterval(() => {}, 1000)', { eval: true });
await new Promise((resolve) => setImmediate(resolve));

if (process.argv.includes('few jobs')) {
  console.log(JSON.stringify({ changes: changesOfFlag() }));
  process.exit();
}

allocate(() => young.noteClaimed(process.argv.includes('no jobs') ? 0 : 500));
const busy = youngBytes();
young.noteBeat();
young.noteBeat();
allocate(() => {});
console.log(JSON.stringify({ busy, idle: youngBytes() }));
process.exit();

/** With a young generation that has grown beyond the bound: only then does the flag change. */
function changesOfFlag(): number {
  allocate(() => {});
  let changes = 0;
  v8.setFlagsFromString = () => {
    changes += 1;
  };
  for (let beats = 0; beats < 100; beats += 1) {
    young.noteClaimed(60);
    young.noteBeat();
  }
  return changes;
}

function allocate(eachRound: () => void): void {
  let kept: object[] = [];
  for (let round = 0; round < 300; round += 1) {
    eachRound();
    for (let made = 0; made < 5_000; made += 1) kept.push({ round, made, pair: [round, made] });
    if (kept.length > 30_000) kept = kept.slice(5_000);
  }
}

function youngBytes(): number {
  return v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')!.space_size;
}
