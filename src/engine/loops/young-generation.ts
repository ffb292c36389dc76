/**
 * The young generation of V8 as a worker sees it: the worker tells how busy it is, and the program around the engine
 * decides what that means for the memory of the process.
 */
export interface YoungGeneration {
  /** Call with the number of jobs that were claimed. */
  noteClaimed(jobs: number): void;
  /** Call after each heartbeat. */
  noteBeat(): void;
  /** Call when the worker is closed. */
  release(): void;
}

/** Leaves V8 alone. */
export const unboundedYoungGeneration: YoungGeneration = { noteClaimed: () => {}, noteBeat: () => {}, release: () => {} };
