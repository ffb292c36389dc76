// Definitions that follow definitions, on three levels, and what an operator does with them, in the simulations that
// draw them.
import type { AnyJobDef } from '../../src/engine/declare/job-def.ts';
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { every, jobDef, jobType, type Context } from '../../src/index.ts';
import type { Clock } from '../../src/time/clock.ts';
import type { RandomStream } from './random-streams.ts';

/** The type of their runs. */
export const linkedType = 'linked';
/** The definition that has a schedule; the others follow it. */
export const firstDef = 'first';
/** The followers that an operator defines and deletes. Code declares the others. */
const operatorDefs = ['extra', 'spare'] as const;
const codeFollowers = ['left', 'right', 'join', 'cleanup'] as const;
const followers = [...codeFollowers, ...operatorDefs] as const;

export interface LinkedParts {
  readonly clock: Clock;
  /** Records the start; returns a number in [0, 1) that depends only on the attempt. */
  readonly begin: (context: Context) => number;
}

export const linkedJobType = ({ clock, begin }: LinkedParts): AnyJobType => jobType(linkedType, {
  retry: { attempts: 2, base: '1s', max: '5s' },
  timeout: '2m',
  run: async (context) => {
    const chance = begin(context);
    await clock.sleep(chance * 8_000, context.signal);
    context.signal.throwIfAborted();
    if (chance < 0.4) throw new Error('it did not work');
    return chance;
  },
});

export function followingDefs(type: AnyJobType): readonly AnyJobDef[] {
  const def = (name: (typeof codeFollowers)[number], options: object): AnyJobDef => jobDef(name, type, options);
  return [
    jobDef(firstDef, type, { schedules: every('50s'), overlap: 'allow', misfire: 'all' }),
    def('left', { after: firstDef }),
    def('right', { after: firstDef, afterFailure: 'run' }),
    def('join', { after: ['left', 'right'], overlap: 'allow' }),
    def('cleanup', { after: 'left', on: 'failed' }),
  ];
}

const rules = [{}, {}, { on: 'failed' }, { on: 'ended' }, { afterFailure: 'run' }, { afterFailure: 'wait' }] as const;

/** Some of these form a cycle, or name a definition that does not exist, and are refused. */
export function drawFollowing(random: RandomStream): object {
  const [isOne, one, other] = [random.isTrue(0.6), random.pick([firstDef, ...followers]), random.pick(followers)];
  return { after: isOne ? one : [one, other], ...random.pick(rules) };
}

export const drawOperatorDef = (random: RandomStream): string => random.pick(operatorDefs);
export const drawFollower = (random: RandomStream): string => random.pick(followers);
/** A follower that an operator deletes or changes; seldom one that code declares. */
export const drawChangedDef = (random: RandomStream): string => random.pick([...operatorDefs, ...operatorDefs, 'join', 'cleanup']);
