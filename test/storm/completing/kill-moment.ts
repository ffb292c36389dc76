// The moments at which a process kills itself with SIGKILL while one of its handlers completes.
import { hashOf } from '../../sim/random-streams.ts';

export const killMoments = [
  'before the writes', 'between the writes', 'after the writes', 'around the commit', 'after the commit',
] as const;
export type KillMoment = (typeof killMoments)[number];

/** One of this many runs kills the process of the first attempt that reaches its moment. */
const killEvery = 10;

/** Returns when the run with this number kills a process: the moments take turns. Null: it kills none. */
export const killMomentOf = (number: number): KillMoment | null =>
  number % killEvery === 0 ? killMoments[(number / killEvery) % killMoments.length]! : null;

/** Until then, on a quick machine, the end has been written, and its commit been sent or confirmed. */
const aroundCommitMs = 60;

/** More often short than long: a quick commit must be met, too. */
export const killDelayMs = (job: number, fence: number): number =>
  (hashOf(`delay ${job} ${fence}`) / 2 ** 32) ** 2 * aroundCommitMs;
