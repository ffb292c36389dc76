// The fleet: instances in processes of their own that are killed and paused, and replaced when they are gone.
import { setTimeout as sleep } from 'node:timers/promises';
import { Member } from '../engine/processes/member.ts';
import type { Stream } from '../sim/draws.ts';
import type { MemberOptions } from './member.ts';

export interface FleetOptions extends Omit<MemberOptions, 'instance'> {
  readonly size: number;
  readonly program: string;
  readonly ledger: string;
  readonly dice: Stream;
}

interface Berth {
  member: Member;
  isPaused: boolean;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #berths: Berth[];
  readonly #faults: string[] = [];
  #started = 0;
  #isOver = false;
  kills = 0;
  pauses = 0;
  /** Of those, the ones that lasted longer than a lease. */
  longPauses = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#berths = Array.from({ length: options.size }, (_, index) => {
      const berth: Berth = { member: this.#spawn(index), isPaused: false };
      this.#watch(berth, index);
      return berth;
    });
  }

  get started(): number {
    return this.#started;
  }

  /** Members that ended by themselves, for another reason than a store that was away, and what they said. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** SIGKILL for one that is at work; false: none is. */
  async kill(isMeant: (member: Member) => boolean = () => true): Promise<boolean> {
    // Those that are paused are left to come too late.
    const berths = this.#ready().filter(({ member: each, isPaused }) => isMeant(each) && !isPaused);
    const member = this.#pick(berths)?.member;
    if (!member) return false;
    this.kills += 1;
    await member.end('SIGKILL');
    return true;
  }

  /** SIGSTOP for one that is at work, and SIGCONT after a while. */
  pause(ms: number, leaseMs: number): boolean {
    const berth = this.#pick(this.#ready().filter(({ isPaused }) => !isPaused));
    if (!berth) return false;
    const { member } = berth;
    this.pauses += 1;
    if (ms > leaseMs) this.longPauses += 1;
    berth.isPaused = true;
    member.signal('SIGSTOP');
    void sleep(ms).then(() => {
      member.signal('SIGCONT');
      if (berth.member === member) berth.isPaused = false;
    });
    return true;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#berths.map(({ member }) => member.end('SIGKILL')));
  }

  #ready(): Berth[] {
    return this.#berths.filter(({ member }) => member.output.includes('ready'));
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : this.#options.dice.pick(from);
  }

  #spawn(index: number): Member {
    const { program, ledger, dice, url, slots, lease } = this.#options;
    this.#started += 1;
    // Half of them come back under the name they had.
    const instance = dice.isTrue(0.5) ? `member ${index}` : `member ${index}, life ${this.#started}`;
    return new Member({ url, instance, slots, lease } as MemberOptions, ledger, program);
  }

  #watch(berth: Berth, index: number): void {
    const { member } = berth;
    void member.exit.then(async ({ signal }) => {
      if (this.#isOver) return;
      if (signal === null) await this.#missed(member);
      if (this.#isOver) return;
      berth.member = this.#spawn(index);
      berth.isPaused = false;
      this.#watch(berth, index);
    });
  }

  /** It ended by itself. */
  async #missed({ output }: Member): Promise<void> {
    if (!output.includes('unavailable.store')) this.#faults.push(`a member ended by itself: ${output}`);
    await sleep(500);
  }
}
