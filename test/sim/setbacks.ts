// The setbacks of processes: a goal is reached when a process that has met one has written again.
import type { GoalName, Goals } from './goals.ts';
import type { SimProcess } from './process.ts';

export class Setbacks {
  readonly #goals: Goals;
  readonly #met = new Map<SimProcess, Set<GoalName>>();

  constructor(goals: Goals) {
    this.#goals = goals;
  }

  /** A write of the process has failed, or was lost. `goal`: what is reached when its next write succeeds. */
  meet(process: SimProcess, goal: GoalName): void {
    const met = this.#met.get(process) ?? new Set();
    this.#met.set(process, met.add(goal));
  }

  /** A write of the process has succeeded. */
  overcome(process: SimProcess): void {
    for (const goal of this.#met.get(process) ?? []) this.#goals.reach(goal);
    this.#met.delete(process);
  }
}
