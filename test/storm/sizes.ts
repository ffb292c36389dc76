// The sizes of the storms: in the test suite, and long ones for the night.
import type { StormOptions } from './storm.ts';

export const postgresSize: StormOptions = {
  size: 5, ms: 60_000, faults: { kills: 150, pauses: 60, crashes: 3, cuts: 20 },
};
export const sqliteSize: StormOptions = {
  size: 4, ms: 45_000, faults: { kills: 120, pauses: 0, crashes: 0, cuts: 0 },
};

export const postgresLong: StormOptions = {
  size: 5, ms: 3_600_000, faults: { kills: 7_000, pauses: 3_000, crashes: 150, cuts: 1_000 },
};
export const sqliteLong: StormOptions = {
  size: 4, ms: 1_800_000, faults: { kills: 4_000, pauses: 0, crashes: 0, cuts: 0 },
};
