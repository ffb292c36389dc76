// Proves this version: npm run prove [-- --ci | --long] [--only NAME,…] [--resume] [--seed N] writes proof.json.
// With --list [FOLDER…], it only lists where each test runs.
import { parseArgs } from 'node:util';
import { systemRandom } from '../../src/random.ts';
import { systemClock } from '../../src/time/clock.ts';
import { measureSlowness } from '../support/slowness.ts';
import type { Part, PartOutcome, PartRequest, Size } from './part.ts';
import { list } from './list.ts';
import { emptyProof, lineOf, proofText, storedProof, withPart, writeProof, type PartReport } from './proof.ts';
import { runParts, secondsOf } from './run-parts.ts';

// Before any module that reads it. Twice what the quiet machine shows: later two parts run at a time, with simulations behind
// them.
process.env['STINT_SLOWNESS'] ??= String(2 * measureSlowness());
const { parts } = await import('./parts.ts');

/** The seeds of a release are fixed, so that a run can be repeated; `--long` draws its own. */
const releaseSeed = 0x3d4164a;
const progressMs = 15_000;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const { values, positionals } = parseArgs({
  options: { ci: flag, long: flag, resume: flag, list: flag, only: text, seed: text }, allowPositionals: true,
});
if (values.list) process.exit((await list(positionals, say)) ? 0 : 1);
if (positionals.length > 0) fail(`cannot prove: unexpected ${positionals.join(' ')}`);
if (values.ci && values.long) fail('cannot prove: --ci and --long name two sizes');
const size: Size = values.long ? 'long' : values.ci ? 'ci' : 'full';
const seed = Number(values.seed ?? (values.long ? Math.floor(systemRandom.next() * 2 ** 30) : releaseSeed));
const ofSize = parts.filter(({ isLongOnly }) => values.long || !isLongOnly);
const chosen = ofSize.filter(isChosen);
if (chosen.length === 0) fail(`--only ${values.only} names none of: ${ofSize.map(({ name }) => name).join(', ')}`);

let proof = values.resume || values.only !== undefined ? storedProof(size) : emptyProof(size);
const open = chosen.filter(({ name }) => !(values.resume && proof.parts[name]?.isKept));
/** How much of each part is done, between 0 and 1. */
const shares = new Map<Part, number>();
let begun = 0;
await runParts(open, async (part) => {
  begun += 1;
  say(`part ${begun} of ${open.length}: ${part.name}, ${timeLeft()}`);
  const report = await runPart(part);
  shares.set(part, 1);
  say(lineOf(part.name, report));
  proof = withPart(proof, part.name, report, ofSize.map(({ name }) => name));
  writeProof(proof);
});
const broken = chosen.filter(({ name }) => !proof.parts[name]!.isKept);
say(proofText(proof));
say(`proof: ${chosen.length - broken.length} passed, ${broken.length} failed`);
if (broken.length > 0) process.exitCode = 1;

function isChosen({ name }: Part): boolean {
  return values.only === undefined || values.only.split(',').some((start) => name.startsWith(start));
}

async function runPart(part: Part): Promise<PartReport> {
  const start = systemClock.monotonic();
  let saidAt = start;
  const progress: PartRequest['progress'] = (share, what) => {
    shares.set(part, share);
    if (systemClock.monotonic() - saidAt < progressMs) return;
    saidAt = systemClock.monotonic();
    say(`  ${part.name}: ${what}, ${timeLeft()}`);
  };
  const print = (line: string): void => say(`  ${part.name}: ${line}`);
  const outcome = await part.run({ size, seed, progress, print }).catch(asFinding);
  return {
    at: new Date(systemClock.now()).toISOString(),
    seconds: Math.round((systemClock.monotonic() - start) / 1000),
    isKept: outcome.findings.length === 0,
    ...outcome,
  };
}

/** The parts that run beside it go on. */
function asFinding(error: unknown): PartOutcome {
  return { figures: {}, findings: [error instanceof Error ? error.stack ?? error.message : String(error)] };
}

/** On two quiet cores. */
function timeLeft(): string {
  if (values.long) return 'in the long size';
  return `about ${Math.ceil(secondsOf(open, size, (part) => shares.get(part) ?? 0) / 60)} min left`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(2);
}
