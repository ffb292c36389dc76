// The faults of one simulation: which kinds exist and how strong they are is drawn once; each that strikes has a name.
import type { Draws, Stream } from './draws.ts';
import { defNames, typeNames, type DefName, type TypeName } from './trade.ts';

/** How strong each kind is: a chance per call, or an average time between two. 0 and Infinity: it does not exist. */
export interface Swarm {
  readonly engines: number;
  readonly leaseMs: number;
  readonly lostRequest: number;
  readonly lostReply: number;
  /** The process dies when the reply comes. */
  readonly deadlyReply: number;
  readonly slow: number;
  readonly lostWake: number;
  readonly crashEveryMs: number;
  readonly pauseEveryMs: number;
  readonly outageEveryMs: number;
  readonly jumpEveryMs: number;
  readonly storeJumpEveryMs: number;
  /** Restarted instances take the name that they had. */
  readonly keepsName: boolean;
  /** Handlers take their process down. */
  readonly poison: boolean;
  /** Jobs are kept so long after their end; null: for ever. */
  readonly retentionMs: number | null;
  /** How busy producers, operators and queue clients are. */
  readonly workEveryMs: number;
  /** The job types and definitions in play: few at a time, so that they meet each other often. */
  readonly types: readonly TypeName[];
  readonly defs: readonly DefName[];
}

const minute = 60_000;

export function swarmOf(draws: Draws): Swarm {
  const dice = draws.stream('swarm');
  const maybe = <T>(chance: number, value: () => T, none: T): T => {
    const [isThere, drawn] = [dice.isTrue(chance), value()];
    return isThere ? drawn : none;
  };
  return {
    engines: dice.pick([2, 2, 3, 3, 4]),
    leaseMs: dice.pick([5_000, 15_000, 15_000, 30_000]),
    lostRequest: maybe(0.8, () => dice.between(0.005, 0.05), 0),
    lostReply: maybe(0.8, () => dice.between(0.005, 0.05), 0),
    deadlyReply: maybe(0.6, () => dice.between(0.0005, 0.004), 0),
    slow: maybe(0.7, () => dice.between(0.01, 0.1), 0),
    lostWake: maybe(0.7, () => dice.pick([0.1, 0.5, 1]), 0),
    crashEveryMs: maybe(0.8, () => dice.between(1, 8) * minute, Infinity),
    pauseEveryMs: maybe(0.7, () => dice.between(1, 8) * minute, Infinity),
    outageEveryMs: maybe(0.6, () => dice.between(5, 20) * minute, Infinity),
    jumpEveryMs: maybe(0.6, () => dice.between(2, 10) * minute, Infinity),
    storeJumpEveryMs: maybe(0.25, () => dice.between(15, 40) * minute, Infinity),
    keepsName: dice.isTrue(0.25),
    poison: dice.isTrue(0.6),
    retentionMs: maybe(0.4, () => dice.pick([minute, 10 * minute]), null),
    workEveryMs: dice.between(7, 40) * 1000,
    types: someOf(dice, typeNames, 4),
    defs: someOf(dice, defNames, 2),
  };
}

/** Two engines, now and then something to do, and trouble a few times an hour. */
export const quietened = (swarm: Swarm): Swarm => ({
  ...swarm,
  engines: 2,
  leaseMs: minute,
  workEveryMs: 5 * minute,
  crashEveryMs: swarm.crashEveryMs * 5,
  pauseEveryMs: swarm.pauseEveryMs * 5,
  lostRequest: swarm.lostRequest / 10,
  lostReply: swarm.lostReply / 10,
  deadlyReply: swarm.deadlyReply / 10,
});

function someOf<T>(dice: Stream, all: readonly T[], count: number): T[] {
  const left = [...all];
  return Array.from({ length: count }, () => left.splice(dice.whole(0, left.length - 1), 1)[0]!);
}

/** What struck, and what may strike: a list to be replayed allows only what is in it. */
export class Faults {
  readonly struck: string[] = [];
  readonly #allowed: ReadonlySet<string> | null;
  #isOver = false;

  constructor(allowed: readonly string[] | null = null) {
    this.#allowed = allowed && new Set(allowed);
  }

  /** Whether it strikes; it is counted when it does. */
  strikes(name: string): boolean {
    if (this.#isOver || (this.#allowed && !this.#allowed.has(name))) return false;
    this.struck.push(name);
    return true;
  }

  /** From now on nothing strikes. */
  heal(): void {
    this.#isOver = true;
  }
}

/** Usually a few milliseconds, now and then much longer. */
export function latencyOf(dice: Stream, slow: number): number {
  const [base, isSlow, tail] = [dice.between(0.2, 4), dice.isTrue(slow), dice.between(20, 2_000)];
  return isSlow ? tail : base;
}
