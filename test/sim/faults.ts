// The settings and faults of one simulation. The settings are drawn once per seed; each injected fault has a name.
import type { RandomStreams, RandomStream } from './random-streams.ts';
import { defNames, typeNames, type DefName, type TypeName } from './workload.ts';

/** Faults have a chance per call or an average interval; 0 or Infinity disables them. */
export interface SimSettings {
  readonly engines: number;
  readonly leaseMs: number;
  readonly lostRequest: number;
  readonly lostReply: number;
  /** The process crashes when the reply arrives. */
  readonly deadlyReply: number;
  readonly slow: number;
  readonly lostWake: number;
  readonly crashEveryMs: number;
  readonly pauseEveryMs: number;
  readonly outageEveryMs: number;
  readonly jumpEveryMs: number;
  readonly storeJumpEveryMs: number;
  /** Whether restarted instances keep their name. */
  readonly keepsName: boolean;
  /** Whether handlers can crash their process. */
  readonly poison: boolean;
  /** Retention of ended jobs; null: unlimited. */
  readonly retentionMs: number | null;
  /** Average interval between two actions of a client. */
  readonly workEveryMs: number;
  /** The job types and definitions of this seed: few, so that they interact often. */
  readonly types: readonly TypeName[];
  readonly defs: readonly DefName[];
}

const minute = 60_000;

export function drawSettings(streams: RandomStreams): SimSettings {
  // The name is part of the seed: another name would change the history of every known seed.
  const random = streams.stream('swarm');
  const maybe = <T>(chance: number, value: () => T, none: T): T => {
    const [isEnabled, drawn] = [random.isTrue(chance), value()];
    return isEnabled ? drawn : none;
  };
  return {
    engines: random.pick([2, 2, 3, 3, 4]),
    leaseMs: random.pick([5_000, 15_000, 15_000, 30_000]),
    lostRequest: maybe(0.8, () => random.between(0.005, 0.05), 0),
    lostReply: maybe(0.8, () => random.between(0.005, 0.05), 0),
    deadlyReply: maybe(0.6, () => random.between(0.0005, 0.004), 0),
    slow: maybe(0.7, () => random.between(0.01, 0.1), 0),
    lostWake: maybe(0.7, () => random.pick([0.1, 0.5, 1]), 0),
    crashEveryMs: maybe(0.8, () => random.between(1, 8) * minute, Infinity),
    pauseEveryMs: maybe(0.7, () => random.between(1, 8) * minute, Infinity),
    outageEveryMs: maybe(0.6, () => random.between(5, 20) * minute, Infinity),
    jumpEveryMs: maybe(0.6, () => random.between(2, 10) * minute, Infinity),
    storeJumpEveryMs: maybe(0.25, () => random.between(15, 40) * minute, Infinity),
    keepsName: random.isTrue(0.25),
    poison: random.isTrue(0.6),
    retentionMs: maybe(0.4, () => random.pick([minute, 10 * minute]), null),
    workEveryMs: random.between(7, 40) * 1000,
    types: someOf(random, typeNames, 4),
    defs: someOf(random, defNames, 2),
  };
}

/** Two engines, an action every five minutes, and a few faults per hour. */
export const quietSettings = (settings: SimSettings): SimSettings => ({
  ...settings,
  engines: 2,
  leaseMs: minute,
  workEveryMs: 5 * minute,
  crashEveryMs: settings.crashEveryMs * 5,
  pauseEveryMs: settings.pauseEveryMs * 5,
  lostRequest: settings.lostRequest / 10,
  lostReply: settings.lostReply / 10,
  deadlyReply: settings.deadlyReply / 10,
});

function someOf<T>(random: RandomStream, all: readonly T[], count: number): T[] {
  const left = [...all];
  return Array.from({ length: count }, () => left.splice(random.integer(0, left.length - 1), 1)[0]!);
}

/** Decides which faults happen, and records them. A replay allows only the faults of its list. */
export class Faults {
  readonly injected: string[] = [];
  readonly #allowed: ReadonlySet<string> | null;
  #isStopped = false;

  constructor(allowed: readonly string[] | null = null) {
    this.#allowed = allowed && new Set(allowed);
  }

  /** Returns whether the fault happens; if so, records it. */
  inject(name: string): boolean {
    if (this.#isStopped || (this.#allowed && !this.#allowed.has(name))) return false;
    this.injected.push(name);
    return true;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Ends all faults. */
  stop(): void {
    this.#isStopped = true;
  }
}

/** Usually a few milliseconds; for slow calls up to two seconds. */
export function latencyOf(random: RandomStream, slow: number): number {
  const [base, isSlow, tail] = [random.between(0.2, 4), random.isTrue(slow), random.between(20, 2_000)];
  return isSlow ? tail : base;
}
