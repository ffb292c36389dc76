// The moments at which a process kills itself with SIGKILL while one of its handlers completes.
import { hashOf } from '../../sim/random-streams.ts';

export const killMoments = ['before the writes', 'between the writes', 'after the writes', 'around the commit'] as const;
export type KillMoment = (typeof killMoments)[number];

/** The share of attempts that end so. */
const killedShare = 0.25;

/** Returns when the process of an attempt dies: it depends only on the claim. Null: it lives on. */
export function killMomentOf(job: number, fence: number): KillMoment | null {
  const chance = hashOf(`kill ${job} ${fence}`) / 2 ** 32;
  return chance < killedShare ? killMoments[Math.floor((chance / killedShare) * killMoments.length)]! : null;
}

/** Until then the end has been written, and its commit been sent or confirmed. */
const aroundCommitMs = 60;

/** More often short than long: a quick commit must be met, too. */
export const killDelayMs = (job: number, fence: number): number =>
  (hashOf(`delay ${job} ${fence}`) / 2 ** 32) ** 2 * aroundCommitMs;
