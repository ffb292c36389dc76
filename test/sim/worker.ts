// A worker process: simulates the seeds that it receives, one after the other.
import { flushCompileCache } from 'node:module';
import { simulate, type SimOptions } from './simulation.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly options: SimOptions;
}

// Node would write the cache at its exit, and this process is killed.
flushCompileCache();

process.on('message', ({ seed, options }: SeedRequest) => {
  void simulate(seed, options).then((report) => process.send!(report));
});
