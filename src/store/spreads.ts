/** The spreads that a claim respects (model/spread.ts): which due jobs they hold back now, and when to ask again. */
import { gateWithoutCosts } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import { contentOf, isInScope, isPausable, scopeOf, type PauseScope } from '../model/pause.ts';
import { isHeldAt, nextPartAt, passageAt, type Passage, type Spread } from '../model/spread.ts';
import type { Kind } from '../model/state.ts';
import { namePredicate } from './name-filter.ts';
import type { ClaimRequest } from './store.ts';
import type { WaitingJob } from './waiting-job.ts';

/** The record of a pause in force, as claims read it. */
export type PauseRecord = Pick<Job, 'id' | 'type' | 'gate' | 'input'>;

interface SpreadNow {
  readonly id: number;
  readonly type: string;
  readonly scope: PauseScope;
  readonly spread: Spread;
  readonly passage: Passage;
}

/** Jobs that become due during a spread, and are not held, wait for the next claim at most this long. */
const pollMs = 1_000;

export class Spreads {
  readonly #all: readonly SpreadNow[];
  readonly #ofTypes: ReadonlyMap<string, Passage>;
  readonly #ofGates: readonly SpreadNow[];
  /** The spreads of keys and limits that apply to a gate, by its text without the costs. */
  readonly #byGate = new Map<string, readonly SpreadNow[]>();
  readonly #now: number;

  /** `records` are pauses in force at `now`; those without a spread are left out. */
  constructor(records: readonly PauseRecord[], now: number) {
    this.#now = now;
    this.#all = records.flatMap(({ id, type, gate, input }) => {
      const { spread } = contentOf({ input });
      return spread ? [{ id, type, scope: scopeOf({ type, gate }), spread, passage: passageAt(spread, now) }] : [];
    });
    this.#ofTypes = new Map(this.#all.flatMap(({ scope, passage }) =>
      ('type' in scope && scope.key === null ? [[scope.type, passage] as const] : [])));
    this.#ofGates = this.#all.filter(({ scope }) => !('type' in scope && scope.key === null));
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** The ids of the records. */
  get ids(): readonly number[] {
    return this.#all.map(({ id }) => id);
  }

  /** Returns what is let through of a type; null: no resume of the whole type is spread. */
  ofType(type: string): Passage | null {
    return this.#ofTypes.get(type) ?? null;
  }

  /** Returns the types that a request names and whose resume is spread. */
  typesIn({ kinds, names }: SpreadRequest): string[] {
    if (this.#ofTypes.size === 0 || !kinds.some(isPausable)) return [];
    return [...this.#ofTypes.keys()].filter(namePredicate(names));
  }

  /** Whether a due job that waits at a gate is held back. */
  isHeld(type: string, job: Pick<WaitingJob, 'id' | 'due' | 'gate'>): boolean {
    if (this.isEmpty) return false;
    const ofType = this.#ofTypes.get(type);
    return (ofType !== undefined && isHeldAt(ofType, job)) || this.#at(job.gate).some(({ passage }) => isHeldAt(passage, job));
  }

  /** When a claim of the request may find jobs that are held back now; null: none of its jobs is. */
  opensAt({ kinds, names }: SpreadRequest): number | null {
    if (this.isEmpty || !kinds.some(isPausable)) return null;
    const isNamed = namePredicate(names);
    const times = this.#all.flatMap(({ scope, type, spread }) =>
      ('limit' in scope || isNamed(type) ? [nextPartAt(spread, this.#now)] : []));
    return times.length === 0 ? null : Math.min(this.#now + pollMs, ...times);
  }

  #at(gate: string): readonly SpreadNow[] {
    if (this.#ofGates.length === 0) return this.#ofGates;
    const bare = gateWithoutCosts(gate);
    const known = this.#byGate.get(bare);
    if (known) return known;
    const found = this.#ofGates.filter(({ scope }) => isInScope(scope, { kind: 'run', type: '', gate, admitted: false }));
    this.#byGate.set(bare, found);
    return found;
  }
}

type SpreadRequest = Pick<ClaimRequest, 'names'> & { readonly kinds: readonly Kind[] };

export const noSpreads = new Spreads([], 0);
