// Fuzzing as parts of the proof: many inputs for each door, a fixed number in CI, ten minutes of them in the long proof.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Part, PartOutcome, PartRequest, Size } from '../prove/part.ts';
import { bedrock } from './bedrock.ts';
import { cli } from './cli.ts';
import type { Door, OpenDoor } from './door.ts';
import { http } from './http.ts';
import { slowness } from '../support/patience.ts';
import { TestPostgres } from '../support/postgres.ts';

const pageSize = 200;
const longMs = 600_000;
/** More than the pages of any campaign. */
const seedsPerStore = 1_000_000;
const findingsMax = 20;
/** An answer takes longer only if the input is to blame. A busy machine does not delay each of several tries so much. */
const answerMaxMs = 5_000 * slowness;
const triesIfSlow = 4;
const shownMax = 1_000;

/** A number of inputs on each store; in the long proof, a time. */
function shareOf(size: Size, inputsMin: number, before: number): Fuzzing['share'] {
  const start = performance.now();
  return size === 'long'
    ? () => ((performance.now() - start) * stores.length) / longMs
    : (inputs) => ((inputs - before) * stores.length) / inputsMin;
}

export class Campaign {
  readonly answers = new Map<string, number>();
  readonly findings: string[] = [];
  inputs = 0;
  slowestMs = 0;
  readonly #now: () => number;

  constructor(now = (): number => performance.now()) {
    this.#now = now;
  }

  get figures(): PartOutcome['figures'] {
    const answers = [...this.answers].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return { inputs: this.inputs, slowestMs: Math.round(this.slowestMs), ...Object.fromEntries(answers) };
  }

  /** Sends a page of inputs; the seed repeats them. */
  async page<Input>(door: OpenDoor<Input>, seed: number, size = pageSize): Promise<void> {
    for (const input of fc.sample(door.inputs, { seed, numRuns: size })) {
      const wrong = await this.#send(door, input);
      if (wrong !== null) this.findings.push(`seed ${seed}: ${wrong}\n  ${shown(input)}`);
    }
    this.findings.push(...(await door.check()).map((found) => `after seed ${seed}: ${found}`));
  }

  /** Sends an input, again if its answer took too long; returns what was wrong with an answer, or with each time. */
  async #send<Input>(door: OpenDoor<Input>, input: Input): Promise<string | null> {
    let quickestMs = Infinity;
    for (let tries = 0; tries < triesIfSlow && quickestMs > answerMaxMs; tries += 1) {
      const start = this.#now();
      const { answer, wrong } = await door.send(input);
      const tookMs = this.#now() - start;
      this.slowestMs = Math.max(this.slowestMs, tookMs);
      quickestMs = Math.min(quickestMs, tookMs);
      this.inputs += 1;
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
      if (wrong !== null) return wrong;
    }
    return quickestMs > answerMaxMs ? `each of ${triesIfSlow} answers took ${Math.round(quickestMs)} ms or more` : null;
  }
}

const shown = (input: unknown): string =>
  JSON.stringify(input, (_name, value: unknown) => (isBuffer(value) ? Buffer.from(value.data).toString('latin1') : value))
    .slice(0, shownMax);

const isBuffer = (value: unknown): value is { readonly data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer' && 'data' in value;

interface FuzzedStore extends AsyncDisposable {
  readonly url: string;
}

async function sqlite(): Promise<FuzzedStore> {
  const folder = await mkdtemp(join(tmpdir(), 'stint-fuzz-'));
  return { url: `sqlite:${join(folder, 'jobs.db')}`, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

async function postgres(): Promise<FuzzedStore> {
  const server = await TestPostgres.create();
  return { url: server.url, [Symbol.asyncDispose]: () => server.stop() };
}

const stores = [sqlite, postgres];

async function run<Input>(door: Door<Input>, inputsMin: number, { size, seed, progress }: PartRequest): Promise<PartOutcome> {
  const campaign = new Campaign();
  for (const [index, openStore] of stores.entries()) {
    await using store = await openStore();
    await fuzzOn(await door.open(store.url), campaign, {
      seed: seed + index * seedsPerStore,
      share: shareOf(size, inputsMin, campaign.inputs),
      progress: (share) => progress((index + share) / stores.length, `${campaign.inputs} inputs`),
    });
  }
  return { figures: { firstSeed: seed, ...campaign.figures }, findings: campaign.findings.slice(0, findingsMax) };
}

interface Fuzzing {
  readonly seed: number;
  /** How much of it is done after that many inputs; from 1 on, it ends. */
  readonly share: (inputs: number) => number;
  readonly progress: (share: number) => void;
}

async function fuzzOn<Input>(door: OpenDoor<Input>, campaign: Campaign, { seed, share, progress }: Fuzzing): Promise<void> {
  try {
    for (let page = 0; share(campaign.inputs) < 1 && campaign.findings.length < findingsMax; page += 1) {
      await campaign.page(door, seed + page);
      progress(Math.min(1, share(campaign.inputs)));
    }
  } finally {
    await door.close();
  }
}

const fuzz = <Input>(door: Door<Input>, cpuSeconds: number, inputsMin: number): Part => ({
  name: `fuzz-${door.name}`,
  cpuSeconds,
  runsBeside: true,
  run: (request) => run(door, inputsMin, request),
});

export const fuzzing: readonly Part[] = [fuzz(http, 30, 3_000), fuzz(bedrock, 25, 3_000), fuzz(cli, 50, 1_000)];
