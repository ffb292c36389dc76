// Job types that end with `complete`, and the table of their effects: it must equal the jobs that succeeded.
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { jobType, LeaseLost, type Context } from '../../src/index.ts';
import { isRefusal } from '../../src/refusal.ts';
import { violation, type Violation } from '../../src/verify.ts';
import type { Clock } from '../../src/time/clock.ts';

export const completingTypes = ['completing', 'completing-tasks'] as const;

export interface CompletingParts {
  readonly clock: Clock;
  /** Records the start; returns a number in [0, 1) that depends only on the attempt. */
  readonly begin: (context: Context) => number;
  readonly onLeaseLost: () => void;
}

const retry = { attempts: 3, base: '1s', max: '20s' } as const;
const insert = 'INSERT INTO effects VALUES($1, $2)';

export function completingJobTypes({ clock, begin, onLeaseLost }: CompletingParts): readonly AnyJobType[] {
  const complete = async (context: Context): Promise<number> => {
    const chance = begin(context);
    // Without the signal: some handlers do not notice that they should stop.
    await clock.sleep(chance * 60_000);
    const { run, fence } = context;
    try {
      return await context.complete(async (tx) => {
        const write = (): Promise<unknown> => tx.query(insert, [run.id, fence]);
        // A handler may try again what the disk has refused, without knowing what became of its transaction.
        await write().catch((error: unknown) => (isRefusal(error) ? write() : Promise.reject(error as Error)));
        await clock.sleep(chance * 100);
        await write();
        return fence;
      });
    } catch (error) {
      if (error instanceof LeaseLost) onLeaseLost();
      throw error;
    }
  };
  return [
    jobType(completingTypes[0], { retry, run: complete }),
    jobType(completingTypes[1], {
      retry,
      taskDetails: (context) => Array.from({ length: Math.floor(begin(context) * 4) }, (_, index) => index),
      taskResults: ({ task }) => task,
      jobResults: complete,
    }),
  ];
}

export const createEffects = 'CREATE TABLE effects(job INTEGER, fence INTEGER)';

export interface Success {
  readonly type: string;
  readonly job: number;
  readonly fence: number;
}

/** How many effects a job wrote under a fence. */
export interface Effects {
  readonly job: number;
  readonly fence: number;
  readonly count: number;
}

export const countEffects = 'SELECT job, fence, CAST(count(*) AS INTEGER) AS count FROM effects GROUP BY job, fence';

export function checkEffects(effects: readonly Effects[], succeeded: readonly Success[]): readonly Violation[] {
  return compareEffects(effects, succeeded.filter(({ type }) => (completingTypes as readonly string[]).includes(type)));
}

/** S45: each run that succeeded wrote its two effects under the fence under which it succeeded, and no other run did. */
export function compareEffects(
  effects: readonly Effects[],
  completed: readonly Omit<Success, 'type'>[],
): readonly Violation[] {
  const counts = new Map(effects.map(({ job, fence, count }) => [`${job}.${fence}`, count]));
  const wrong = completed.flatMap(({ job, fence }) => {
    const count = counts.get(`${job}.${fence}`) ?? 0;
    counts.delete(`${job}.${fence}`);
    return count === 2 ? [] : [violation('S45', job, `job ${job} succeeded under fence ${fence} with ${count} of 2 effects`)];
  });
  const more = [...counts.keys()].map((name) =>
    violation('S45', Number.parseInt(name), `there are effects of job and fence ${name}, which did not succeed`));
  return [...wrong, ...more];
}
