/** A job type whose runs take a while and return the time of their end, in ms since 1970 with fractions. */
import { jobType } from '../../src/index.ts';

/** Long enough that a caller who polls reads the run about once in this time. */
export const runMs = 1_000;

export const preciseNow = (): number => performance.timeOrigin + performance.now();

export const timed = jobType('bench.timed', {
  run: async () => {
    await new Promise((resolve) => setTimeout(resolve, runMs));
    return preciseNow();
  },
});
