// A process that simulates the seeds that it is sent, one after the other.
import { simulate, type SimOptions } from './world.ts';

export interface Task {
  readonly seed: number;
  readonly options: SimOptions;
}

process.on('message', ({ seed, options }: Task) => {
  void simulate(seed, options).then((report) => process.send!(report));
});
