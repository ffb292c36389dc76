// The fleet: instances in their own processes. They are killed and paused, and replaced after their exit.
import { setTimeout as sleep } from 'node:timers/promises';
import { Member } from '../engine/processes/member.ts';
import type { RandomStream } from '../sim/random-streams.ts';
import type { InstanceOptions } from './instance-process.ts';

export interface FleetOptions extends Omit<InstanceOptions, 'instance'> {
  readonly size: number;
  readonly program: string;
  readonly ledger: string;
  readonly random: RandomStream;
}

interface ManagedProcess {
  member: Member;
  isPaused: boolean;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #processes: ManagedProcess[];
  readonly #faults: string[] = [];
  #started = 0;
  #isOver = false;
  kills = 0;
  pauses = 0;
  /** Pauses that lasted longer than a lease. */
  longPauses = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#processes = Array.from({ length: options.size }, (_, index) => {
      const managed: ManagedProcess = { member: this.#spawn(index), isPaused: false };
      this.#replaceOnExit(managed, index);
      return managed;
    });
  }

  get started(): number {
    return this.#started;
  }

  /** The output of each process that exited without a signal, except for an unavailable store. */
  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Kills a random running instance; returns false if there is none. */
  async kill(matches: (member: Member) => boolean = () => true): Promise<boolean> {
    // Paused instances are not killed: they must resume after their lease has lapsed.
    const processes = this.#ready().filter(({ member: each, isPaused }) => matches(each) && !isPaused);
    const member = this.#pick(processes)?.member;
    if (!member) return false;
    this.kills += 1;
    await member.end('SIGKILL');
    return true;
  }

  /** Sends SIGSTOP to a random running instance, and SIGCONT after `ms`. */
  pause(ms: number, leaseMs: number): boolean {
    const managed = this.#pick(this.#ready().filter(({ isPaused }) => !isPaused));
    if (!managed) return false;
    const { member } = managed;
    this.pauses += 1;
    if (ms > leaseMs) this.longPauses += 1;
    managed.isPaused = true;
    member.signal('SIGSTOP');
    void sleep(ms).then(() => {
      member.signal('SIGCONT');
      if (managed.member === member) managed.isPaused = false;
    });
    return true;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#processes.map(({ member }) => member.end('SIGKILL')));
  }

  #ready(): ManagedProcess[] {
    return this.#processes.filter(({ member }) => member.output.includes('ready'));
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from.length === 0 ? undefined : this.#options.random.pick(from);
  }

  #spawn(index: number): Member {
    const { program, ledger, random, url, slots, lease } = this.#options;
    this.#started += 1;
    // Half of the replacements keep the name.
    const instance = random.isTrue(0.5) ? `instance ${index}` : `instance ${index}, start ${this.#started}`;
    return new Member({ url, instance, slots, lease } as InstanceOptions, ledger, program);
  }

  #replaceOnExit(managed: ManagedProcess, index: number): void {
    const { member } = managed;
    void member.exit.then(async ({ signal }) => {
      if (this.#isOver) return;
      if (signal === null) await this.#recordExit(member);
      if (this.#isOver) return;
      managed.member = this.#spawn(index);
      managed.isPaused = false;
      this.#replaceOnExit(managed, index);
    });
  }

  /** The process exited without a signal. */
  async #recordExit({ output }: Member): Promise<void> {
    if (!output.includes('unavailable.')) this.#faults.push(`an instance exited without a signal: ${output}`);
    await sleep(500);
  }
}
