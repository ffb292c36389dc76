// The kinds of work that only some simulations have: drawn once per seed.
import type { SimSettings } from './faults.ts';
import type { RandomStreams } from './random-streams.ts';

export interface DrawnWork {
  /** Whether runs use named limits. */
  readonly isMetered: boolean;
  /** Whether runs are handled in batches. */
  readonly isBatching: boolean;
  /** Whether runs have steps, sleeps and questions. */
  readonly isAsking: boolean;
  /** Whether keys take turns. */
  readonly isSharing: boolean;
  /** Whether runs take turns with their tasks. */
  readonly isCrowding: boolean;
  /** Whether definitions follow definitions. */
  readonly hasFollowers: boolean;
  /** Whether runs start child runs. */
  readonly hasFamilies: boolean;
  /** Whether runs end with `complete`. */
  readonly isCompleting: boolean;
  /** Whether versions of the code are deployed that come and go. */
  readonly isDeploying: boolean;
  /** Whether workers over HTTP execute runs. */
  readonly hasRemoteWorkers: boolean;
  /** Whether requests are written to the inbox. */
  readonly hasInbox: boolean;
}

export interface WorkRequest {
  readonly seed: number;
  readonly streams: RandomStreams;
  readonly settings: SimSettings;
  readonly isQuiet: boolean;
}

/** On PostgreSQL the seeds up to this one are known to find mutants, and keep their histories. */
export const knownOnPostgres = 10;

/** If the clock of the store is set back, histories do not show how many jobs started in a period. */
const showsPeriods = ({ storeJumpEveryMs }: SimSettings): boolean => storeJumpEveryMs === Infinity;

export function drawWorkOnSqlite({ seed, streams, settings, isQuiet }: WorkRequest): DrawnWork {
  // None of these seeds is known to find something else.
  const isAsking = [13, 18, 27].includes(seed % 32);
  // The name is part of the seed: with this one, the known seeds of the other mutants have no metered runs, and keep
  // their histories.
  const isMetered = showsPeriods(settings) && !isAsking && streams.numberFor('jobs work') < 0.25;
  // The oracle of turns needs to know which jobs are due. With these names, too, the known seeds keep their histories.
  const hasTurns = showsPeriods(settings) && !isMetered;
  return {
    isAsking,
    isMetered,
    isDeploying: [14, 20, 50, 61].includes(seed % 64),
    isBatching: !isMetered && streams.numberFor('gathering') < 0.15,
    isSharing: hasTurns && streams.numberFor('fairness') < 0.15,
    // None of these seeds is known to find something else. Quiet seeds are long, and would have very many runs.
    isCrowding: hasTurns && !isQuiet && [36, 43, 63].includes(seed % 64),
    hasFollowers: !isQuiet && [45, 54, 59].includes(seed % 64),
    hasFamilies: !isMetered && streams.numberFor('offspring') < 0.12,
    isCompleting: !isMetered && !isAsking && streams.numberFor('completions') < 0.2,
    hasRemoteWorkers: !isQuiet && [35, 36, 42, 50, 60, 61].includes(seed % 64),
    hasInbox: [0, 12].includes(seed % 16),
  };
}

/**
 * Any ten seeds in a row have all of it but turns, whose oracle requires that all instances share them, as on one SQLite
 * file. Half of the seeds have none: those that are known to find mutants keep their histories.
 */
export function drawWorkOnPostgres({ seed, settings }: WorkRequest): DrawnWork {
  const is = (...lastDigits: readonly number[]): boolean => lastDigits.includes(seed % 10);
  return {
    isMetered: is(0) && showsPeriods(settings),
    isAsking: is(3),
    isBatching: is(3),
    hasFamilies: is(4),
    hasInbox: is(4),
    isCompleting: is(8),
    isDeploying: is(8),
    hasFollowers: is(9),
    hasRemoteWorkers: is(2) && seed > knownOnPostgres,
    isSharing: false,
    isCrowding: false,
  };
}
