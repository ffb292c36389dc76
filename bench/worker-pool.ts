/** A pool of worker processes on one scratch database. Each process handles one request at a time. */
import { join } from 'node:path';
import { Child } from './child.ts';
import type { TargetAddress } from './target.ts';
import type { Drained, WorkerRequest } from './worker-process.ts';

const workerModule = join(import.meta.dirname, 'worker-process.ts');

export class WorkerPool {
  readonly #address: TargetAddress;
  readonly #workers: Child<WorkerRequest>[] = [];

  constructor(address: TargetAddress) {
    this.#address = address;
  }

  async drain(processes: number, limit: number): Promise<Drained> {
    const workers = await this.#first(processes);
    const drained = await Promise.all(workers.map((worker) => worker.request<Drained>({ do: 'drain', limit })));
    return drained.reduce((sum, each) => ({ jobs: sum.jobs + each.jobs, cpuUs: sum.cpuUs + each.cpuUs }));
  }

  /** Starts one worker. The returned function awaits the ages of `count` started jobs, then stops the worker. */
  async work(): Promise<(count: number) => Promise<readonly number[]>> {
    const [worker] = await this.#first(1);
    await worker!.request({ do: 'work' });
    return (count) => worker!.request<readonly number[]>({ do: 'reportAges', count });
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.close({ do: 'close' })));
  }

  /** Returns the first `count` workers, and starts those that do not exist yet. */
  async #first(count: number): Promise<readonly Child<WorkerRequest>[]> {
    while (this.#workers.length < count) {
      const worker = new Child<WorkerRequest>(workerModule);
      this.#workers.push(worker);
      await worker.request({ do: 'open', address: this.#address });
    }
    return this.#workers.slice(0, count);
  }
}
