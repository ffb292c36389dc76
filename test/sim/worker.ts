// A worker process: simulates the seeds that it receives, one after the other.
import { simulate, type SimOptions } from './simulation.ts';

export interface SeedRequest {
  readonly seed: number;
  readonly options: SimOptions;
}

process.on('message', ({ seed, options }: SeedRequest) => {
  void simulate(seed, options).then((report) => process.send!(report));
});
