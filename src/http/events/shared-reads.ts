/**
 * Shared reads: streams that read the same data of a run at the same time share one read of the store. A read may have
 * begun before the stream asked for it. A stream that has seen a version of the run, and wants all that was stored before
 * it, therefore passes the version: it shares only reads of those who have seen it, too.
 */
import type { EngineCore } from '../../engine/engine.ts';
import type { OutputRequest } from '../../engine/inspect/output.ts';
import type { Snapshot } from '../../engine/run-handle.ts';
import type { Event } from '../../model/event.ts';
import type { Job } from '../../model/job.ts';
import type { OutputChunk } from '../../model/output.ts';
import type { LogLine } from '../../store/store.ts';

type Reads = Pick<EngineCore, 'snapshot' | 'log' | 'outputOrJob' | 'history'>;

export class SharedReads {
  readonly #engine: Reads;
  readonly #pending = new Map<string, Promise<unknown>>();

  constructor(engine: Reads) {
    this.#engine = engine;
  }

  snapshot(id: number): Promise<Snapshot> {
    return this.#share(`snapshot ${id}`, () => this.#engine.snapshot(id));
  }

  log(id: number, after: number, seen: number): Promise<readonly LogLine[]> {
    return this.#share(`log ${id} ${after} ${seen}`, () => this.#engine.log(id, { after }));
  }

  outputOrJob(id: number, request: OutputRequest): Promise<readonly OutputChunk[] | Job> {
    return this.#share(`output ${id} ${request.after}`, () => this.#engine.outputOrJob(id, request));
  }

  history(id: number, from: number, seen: number): Promise<readonly Event[]> {
    return this.#share(`history ${id} ${from} ${seen}`, () => this.#engine.history(id, from));
  }

  #share<T>(key: string, read: () => Promise<T>): Promise<T> {
    const pending = this.#pending.get(key) as Promise<T> | undefined;
    if (pending !== undefined) return pending;
    const reading = read().finally(() => this.#pending.delete(key));
    this.#pending.set(key, reading);
    return reading;
  }
}
