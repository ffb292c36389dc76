/** The sizes of the workloads: full for reliable figures, quick for a first impression, tiny for the tests. */

export interface Sizes {
  readonly rounds: number;
  readonly warmUpJobs: number;
  readonly createSingle: number;
  readonly createInFlight: number;
  readonly createBulk: number;
  readonly drain: readonly { readonly limit: number; readonly jobs: number }[];
  readonly pickUps: number;
  /** Jobs at each step. Jobs of an earlier list stay in the store for the later lists. */
  readonly backlog: Readonly<Record<'others' | 'later' | 'ended', readonly number[]>>;
  readonly backlogJobs: number;
  readonly scale: Scale;
  readonly glob: { readonly others: number; readonly names: number; readonly jobs: number };
}

/** The sizes of the `scale` workloads, one point of a chart each. */
export interface Scale {
  /** Numbers of processes, and of engines. */
  readonly processes: readonly number[];
  /** Jobs that each process drains. */
  readonly jobsPerProcess: number;
  readonly tasksPerRun: readonly number[];
  readonly definitions: readonly number[];
  /** Keys with a limit, one run for each. */
  readonly keys: readonly number[];
  /** Names of Bedrock jobs: as many are due as are not. */
  readonly names: readonly number[];
  /** Jobs that were created and finished before: each leaves dead rows. */
  readonly churned: readonly number[];
  readonly jobs: number;
}

export const fullSizes: Sizes = {
  rounds: 3,
  warmUpJobs: 5_000,
  createSingle: 3_000,
  createInFlight: 16_000,
  createBulk: 100_000,
  drain: [
    { limit: 1, jobs: 3_000 }, { limit: 10, jobs: 15_000 }, { limit: 100, jobs: 50_000 }, { limit: 1_000, jobs: 100_000 },
  ],
  pickUps: 300,
  backlog: { others: [10_000, 100_000, 1_000_000], later: [100_000, 1_000_000], ended: [1_000_000, 5_000_000] },
  backlogJobs: 10_000,
  scale: {
    processes: [1, 2, 4, 8],
    jobsPerProcess: 20_000,
    tasksPerRun: [10, 1_000, 100_000],
    definitions: [10, 1_000, 10_000],
    keys: [100, 1_000, 6_000],
    names: [100, 2_000, 20_000],
    churned: [10_000, 50_000, 200_000],
    jobs: 10_000,
  },
  glob: { others: 1_000_000, names: 1_000, jobs: 1_000 },
};

export const quickSizes: Sizes = {
  rounds: 3,
  warmUpJobs: 1_000,
  createSingle: 150,
  createInFlight: 1_600,
  createBulk: 8_000,
  drain: [{ limit: 1, jobs: 100 }, { limit: 100, jobs: 6_000 }, { limit: 1_000, jobs: 8_000 }],
  pickUps: 30,
  backlog: { others: [10_000, 50_000], later: [50_000], ended: [50_000] },
  backlogJobs: 1_000,
  scale: {
    processes: [1, 2, 4],
    jobsPerProcess: 3_000,
    tasksPerRun: [10, 100, 1_000],
    definitions: [10, 100, 1_000],
    keys: [100, 2_000],
    names: [100, 5_000],
    churned: [1_000, 5_000, 20_000],
    jobs: 1_000,
  },
  glob: { others: 20_000, names: 100, jobs: 50 },
};

export const tinySizes: Sizes = {
  rounds: 1,
  warmUpJobs: 100,
  createSingle: 5,
  createInFlight: 32,
  createBulk: 1_000,
  drain: [{ limit: 1, jobs: 10 }, { limit: 100, jobs: 200 }, { limit: 1_000, jobs: 1_000 }],
  pickUps: 5,
  backlog: { others: [100], later: [100], ended: [100] },
  backlogJobs: 100,
  scale: { processes: [1, 2], jobsPerProcess: 500, tasksPerRun: [20], definitions: [5], keys: [20], names: [70], churned: [100, 200], jobs: 100 },
  glob: { others: 100, names: 10, jobs: 10 },
};
