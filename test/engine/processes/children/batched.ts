// A type that handles jobs in batches, and a job of it that kills its process.
import { jobType, typed } from '../../../../src/index.ts';
import { tell } from './ledger.ts';

export interface BatchedInput {
  readonly isPoison: boolean;
}

export const batched = jobType('batched', {
  input: typed<BatchedInput>(),
  batch: { size: 8, wait: '500ms' },
  retry: { crashes: 1, base: '10ms' },
  runBatch: ({ jobs }) => {
    tell('batch', { jobs: jobs.map(({ run }) => run.id) });
    if (jobs.some(({ input }) => input.isPoison)) process.kill(process.pid, 'SIGKILL');
    return jobs.map((job) => job.done(job.run.id));
  },
});

export const types = [batched];
