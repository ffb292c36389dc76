/** A crew: processes that work on the same place, each asked one thing at a time. */
import { join } from 'node:path';
import { Child } from './child.ts';
import type { Place } from './contender.ts';
import type { Drained, Order } from './member.ts';

const memberModule = join(import.meta.dirname, 'member.ts');

export class Crew {
  readonly #place: Place;
  readonly #members: Child<Order>[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  /** The first so many members; who is missing is hired. */
  async #first(count: number): Promise<readonly Child<Order>[]> {
    while (this.#members.length < count) {
      const member = new Child<Order>(memberModule);
      this.#members.push(member);
      await member.ask({ do: 'open', place: this.#place });
    }
    return this.#members.slice(0, count);
  }

  /** Hires ahead of time. */
  async gather(count: number): Promise<void> {
    await this.#first(count);
  }

  async drain(count: number, limit: number): Promise<Drained> {
    const members = await this.#first(count);
    const drained = await Promise.all(members.map((member) => member.ask<Drained>({ do: 'drain', limit })));
    return drained.reduce((sum, each) => ({ jobs: sum.jobs + each.jobs, cpuUs: sum.cpuUs + each.cpuUs }));
  }

  /** One member works; the answer asks for the ages at which it started so many jobs, and lets it rest. */
  async work(): Promise<(count: number) => Promise<readonly number[]>> {
    const [member] = await this.#first(1);
    await member!.ask({ do: 'work' });
    return (count) => member!.ask<readonly number[]>({ do: 'tellAges', count });
  }

  async dismiss(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.dismiss({ do: 'close' })));
  }
}
