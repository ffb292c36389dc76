/** Shared reads: streams that read the same data of a run at the same time share one read of the store. */
import type { EngineCore } from '../../engine/engine.ts';
import type { Snapshot } from '../../engine/run-handle.ts';
import type { Event } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import type { OutputChunk } from '../../model/output.ts';
import type { LogLine } from '../../store/store.ts';

type Reads = Pick<EngineCore, 'get' | 'snapshot' | 'log' | 'output' | 'history'>;

export class SharedReads {
  readonly #engine: Reads;
  readonly #pending = new Map<string, Promise<unknown>>();

  constructor(engine: Reads) {
    this.#engine = engine;
  }

  snapshot(id: number): Promise<Snapshot> {
    return this.#share(`snapshot ${id}`, () => this.#engine.snapshot(id));
  }

  log(id: number, after: number): Promise<readonly LogLine[]> {
    return this.#share(`log ${id} ${after}`, () => this.#engine.log(id, { after }));
  }

  job(id: number): Promise<Job> {
    return this.#share(`job ${id}`, () => this.#engine.get(id));
  }

  output(id: number, after: string | undefined): Promise<readonly OutputChunk[]> {
    return this.#share(`output ${id} ${after}`, () => this.#engine.output(id, after === undefined ? {} : { after }));
  }

  history(id: number, from: number): Promise<readonly Event[]> {
    return this.#share(`history ${id} ${from}`, () => this.#engine.history(id, from));
  }

  #share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(key) as Promise<T> | undefined;
    if (pending !== undefined) return pending;
    const reading = read().finally(() => this.#pending.delete(key));
    this.#pending.set(key, reading);
    return reading;
  }
}
