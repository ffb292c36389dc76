/**
 * The runs of the tasks that this instance executes. A run is cached, so that it is not loaded for each task. If the
 * input or the tags of the run are edited later, tasks on this instance still get the cached ones.
 */
import type { Job, Tags } from '../../model/job.ts';
import type { Store } from '../../store/store.ts';
import { BoundedMap } from '../../time/bounded-map.ts';
import type { MaybePromise } from '../../time/maybe-promise.ts';

const cachedMax = 100;

export class TaskParents {
  readonly #store: Store;
  readonly #cached = new BoundedMap<number, Job>(cachedMax);

  constructor(store: Store) {
    this.#store = store;
  }

  of(task: Job): MaybePromise<Job> {
    return this.#cached.get(task.parent!) ?? this.#load(task);
  }

  async tagsOf(job: Job): Promise<Tags | null> {
    return job.kind === 'task' ? (await this.of(job)).tags : job.tags;
  }

  async #load(task: Job): Promise<Job> {
    const [run] = await this.#store.load([task.parent!]);
    if (!run) throw new Error(`task ${task.id} belongs to run ${task.parent}, which no longer exists`);
    this.#cached.set(run.id, run);
    return run;
  }
}
