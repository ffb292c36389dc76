/** The instances of the memory store, their leases, and the leader of each role that `lead` was called with. */
import { instanceKeptMs, isLive, type Beat, type Instance, type Leadership } from '../store.ts';
import { isOtherBoot, isTaken, takenInstance } from '../taken-instance.ts';

export class MemoryInstances {
  readonly #instances = new Map<string, Instance>();
  readonly #leaders = new Map<string, Leadership>();

  all(): readonly Instance[] {
    return [...this.#instances.values()];
  }

  /** Returns whether the lease of the instance has lapsed; false for an unknown instance, which has no lease. */
  isGone(instance: string, now: number): boolean {
    const known = this.#instances.get(instance);
    return known !== undefined && !isLive(known, now);
  }

  beat(beat: Beat, now: number): void {
    const { id, leaseMs, about } = beat;
    const known = this.#instances.get(id);
    if (known && isTaken(beat, known, now)) throw takenInstance(beat);
    const started = known && !isOtherBoot(about.boot, known.about.boot) ? known.started : now;
    this.#instances.set(id, { id, started, beatAt: now, leaseUntil: now + leaseMs, about });
  }

  /**
   * Ends the lease and the leadership of an instance. If it holds jobs, it stays registered with a lapsed lease, so
   * that its jobs can be repaired; otherwise its registration is deleted.
   */
  leave(instance: string, holdsSome: boolean, now: number): void {
    const known = this.#instances.get(instance);
    if (known && holdsSome) this.#instances.set(instance, { ...known, leaseUntil: now });
    else this.#instances.delete(instance);
    for (const [role, { leader, term }] of this.#leaders) {
      if (leader === instance) this.#leaders.set(role, { leader, term, until: now });
    }
  }

  purge(now: number, isHolder: (instance: string) => boolean): void {
    for (const { id, leaseUntil } of this.all()) {
      if (leaseUntil <= now - instanceKeptMs && !isHolder(id)) this.#instances.delete(id);
    }
  }

  lead(role: string, instance: string, leaseMs: number, now: number): Leadership {
    const current = this.#leaders.get(role);
    if (current && current.leader !== instance && current.until > now) return current;
    const goesOn = current?.leader === instance && current.until > now;
    const leadership = { leader: instance, term: goesOn ? current.term : (current?.term ?? 0) + 1, until: now + leaseMs };
    this.#leaders.set(role, leadership);
    return leadership;
  }
}
