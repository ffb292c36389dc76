/**
 * The speed of the machine beside its best in this run. On a shared host, other guests change it by a factor of three
 * within minutes: the computation takes longer, or the host takes the cores away.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A computation that takes this much longer than at its best shows a slow machine. */
const slowFactor = 1.25;
/** The share of all cores' time that the host may take away during a measurement. */
const stolenMax = 0.02;
const probes = 5;
const pauseMs = 500;

export class MachineSpeed {
  #bestMs = Infinity;

  /** Waits until the machine is about as fast as at its best, up to a time. */
  async untilFast(maxMs: number): Promise<void> {
    for (const start = performance.now(); !this.#isFast(); ) {
      if (performance.now() - start > maxMs) return;
      await sleep(pauseMs);
    }
  }

  /** Starts to watch; the function it returns says whether the machine was slow, or without its cores, since then. */
  watch(): () => boolean {
    const before = cpuTimes();
    return () => stolenShare(before, cpuTimes()) > stolenMax || !this.#isFast();
  }

  #isFast(): boolean {
    const ms = Math.min(...Array.from({ length: probes }, probeMs));
    this.#bestMs = Math.min(this.#bestMs, ms);
    return ms <= this.#bestMs * slowFactor;
  }
}

export interface Patience {
  /** How long a measurement waits until the machine is as fast as at its best. */
  readonly waitSeconds: number;
  /** How often a measurement is made at most. */
  readonly tries: number;
}

/** Repeats a measurement during which other guests of the host have slowed the machine down, whatever it has found. */
export async function measureSteadily<Value>(
  measure: () => Promise<Value>,
  { waitSeconds, tries }: Patience,
  speed: Pick<MachineSpeed, 'untilFast' | 'watch'>,
): Promise<{ readonly value: Value; readonly isDisturbed: boolean }> {
  for (let made = 1; ; made += 1) {
    await speed.untilFast(waitSeconds * 1_000);
    const wasSlow = speed.watch();
    const value = await measure();
    const isDisturbed = wasSlow();
    if (!isDisturbed || made === tries) return { value, isDisturbed };
  }
}

const words = 1 << 20;
const chain = Int32Array.from({ length: words }, (_, index) => (index * 7_919 + 1) % words);

/** The time of a computation that needs the core and its memory: some ms. */
function probeMs(): number {
  const start = performance.now();
  let [at, sum] = [0, 0];
  for (let step = 0; step < 100_000; step += 1) at = (chain[at]! + step) % words;
  for (let step = 0; step < 2_000_000; step += 1) sum = (sum * 31 + at + step) | 0;
  sink = sum;
  return performance.now() - start;
}

/** Keeps V8 from leaving the computation out. */
export let sink = 0;

interface CpuTimes {
  readonly all: number;
  readonly stolen: number;
}

/** The times of all cores since the start of the machine; without /proc, nothing is known to be stolen. */
function cpuTimes(): CpuTimes {
  const line = orEmpty(() => readFileSync('/proc/stat', 'utf8')).split('\n')[0]!;
  const [, ...ticks] = line.trim().split(/\s+/).map(Number);
  const counted = ticks.slice(0, 8);
  return { all: counted.reduce((sum, each) => sum + each, 0), stolen: counted[7] ?? 0 };
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

const stolenShare = (before: CpuTimes, after: CpuTimes): number =>
  (after.stolen - before.stolen) / Math.max(1, after.all - before.all);
