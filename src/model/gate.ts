/**
 * The gate: a limit that several jobs share. It names the type of these jobs, their definition and their key (such
 * as a tenant), says whether only the leader may admit them, and which named limits they use. `GateAdmissions` computes
 * from the number of admitted jobs, and from the used part of rates, how many more jobs a gate admits.
 */
import type { FairShare } from './share.ts';
import { noLimitValues, opensAt, roomIn, spend, unusedRate, type LimitState, type LimitUse } from './limit.ts';

export interface Gate {
  readonly type: string;
  readonly def: string | null;
  readonly key: string | null;
  readonly leaderOnly: boolean;
  /**
   * How many jobs of the type, and of the definition, may be admitted at a time. A limit that the claiming instance has
   * for the same type or definition replaces this one.
   */
  readonly typeMax?: number;
  readonly defMax?: number;
  /** What each of these jobs takes of named limits; absent: they use none. */
  readonly uses?: readonly LimitUse[];
  /** The share of the job; absent: its type has no fairness. */
  readonly share?: FairShare;
}

/**
 * How many jobs of a type or of a definition may be admitted at a time, across all instances. For a type or definition
 * that is missing here, `typeMax` or `defMax` of the gate applies, if it is set.
 */
export interface Limits {
  readonly types: ReadonlyMap<string, number>;
  readonly defs: ReadonlyMap<string, number>;
  /** By type: how many jobs with the same key may be admitted. */
  readonly keys: ReadonlyMap<string, number>;
}

export const noLimits: Limits = { types: new Map(), defs: new Map(), keys: new Map() };

/** The values of named limits at `now`, by name and key. A limit that is not stored limits nothing. */
export interface LimitsNow {
  readonly now: number;
  stateOf(name: string, key: string | null): LimitState;
}

export const unlimited: LimitState = { values: noLimitValues, ...unusedRate };
export const noNamedLimits: LimitsNow = { now: 0, stateOf: () => unlimited };

/**
 * Returns the text that a job stores: the gate, and behind `#` the costs of the job if one of them is not 1, and its
 * share as `@key:weight`. Jobs with different costs and shares wait at the same gate, so that the number of gates depends
 * on names and keys of limits only. A gate without `uses` has the text that it had before there were named limits.
 */
export const gateText = ({ leaderOnly, type, def, key, typeMax, defMax, uses = [], share }: Gate): string =>
  [leaderOnly ? 'leader' : 'any', type, def ?? '', key ?? '', typeMax ?? '', defMax ?? '', ...usesText(uses)]
    .map(encodeURIComponent).join('/') + behindGate(costsText(uses), share ? shareText(share) : '');

const behindGate = (costs: string, share: string): string => (costs === '' && share === '' ? '' : `#${costs}${share}`);

const shareText = ({ key, weight }: FairShare): string => `@${encodeURIComponent(key)}:${weight}`;

const usesText = (uses: readonly LimitUse[]): string[] =>
  uses.length === 0 ? [] : [JSON.stringify(uses.map(({ name, key }) => [name, key]))];

const costsText = (uses: readonly LimitUse[]): string =>
  uses.every(({ cost }) => cost === 1) ? '' : uses.map(({ cost }) => cost).join(',');

/** Returns the gate at which a job with this text waits: the text without the costs and the share. */
export const gateWithoutCosts = (text: string): string => text.split('#', 1)[0]!;

export function parseGate(text: string): Gate {
  const [gate = '', behind = ''] = text.split('#');
  const [costs = '', share] = behind.split('@');
  const [who = '', type = '', def = '', key = '', typeMax = '', defMax = '', uses = ''] = gate.split('/').map(decoded);
  return {
    leaderOnly: who === 'leader',
    type,
    def: def || null,
    key: key || null,
    ...(typeMax === '' ? {} : { typeMax: Number(typeMax) }),
    ...(defMax === '' ? {} : { defMax: Number(defMax) }),
    ...(uses === '' ? {} : { uses: usesOf(uses, costs) }),
    ...(share === undefined ? {} : { share: shareOf(share) }),
  };
}

function shareOf(text: string): FairShare {
  const [key = '', weight = ''] = text.split(':');
  return { key: decoded(key), weight: Number(weight) };
}

/** Returns the share in the text of a gate, with its key as in the text, encoded; null: the job has no share. */
export function encodedShare(gate: string): FairShare | null {
  const at = gate.indexOf('@');
  if (at === -1) return null;
  const colon = gate.indexOf(':', at);
  return { key: gate.slice(at + 1, colon), weight: Number(gate.slice(colon + 1)) };
}

/** Gates of older versions have the cost of each use in the list of uses. */
function usesOf(text: string, costs: string): LimitUse[] {
  const given = costs === '' ? [] : costs.split(',').map(Number);
  return (JSON.parse(text) as [string, string | null, number?][])
    .map(([name, key, cost], index) => ({ name, key, cost: given[index] ?? cost ?? 1 }));
}

/** Decodes only parts with escapes, so that a gate is parsed in 0.4 instead of 0.8 µs. */
const decoded = (part: string): string => (part.includes('%') ? decodeURIComponent(part) : part);

/** Returns the name under which the jobs of a key are counted; null: the gate has no key. */
export const keyNameOf = ({ type, key }: Pick<Gate, 'type' | 'key'>): string | null =>
  (key === null ? null : `key ${type} ${key}`);

/** Returns the names of the keys of these gates, as `GateAdmissions` takes them. */
export const keyNames = (gates: readonly string[]): ReadonlySet<string> =>
  new Set(gates.flatMap((gate) => keyNameOf(parseGate(gate)) ?? []));

/** Admits candidates one after the other, starting from a count of the jobs admitted before. */
export class GateAdmissions {
  readonly #admitted: Map<string, number>;
  readonly #limits: Limits;
  readonly #isLeader: boolean;
  readonly #pausedKeys: ReadonlySet<string>;
  readonly #named: LimitsNow;
  /** The states of the named limits that this object has asked for, with the costs of the jobs that it has admitted. */
  readonly #states = new Map<string, LimitState>();
  /** The limits of which a refused job needs more than is left: the jobs behind it, which may be cheaper, wait for it. */
  readonly #reserved = new Set<string>();
  #opensAt: number | null = null;
  /** By the text of the gate: a candidate is often asked about twice, and many candidates have the same gate. */
  readonly #limitedGates = new Map<string, LimitedGate>();

  constructor(
    admitted: ReadonlyMap<string, number>,
    limits: Limits,
    isLeader: boolean,
    named: LimitsNow = noNamedLimits,
    pausedKeys: ReadonlySet<string> = new Set(),
  ) {
    this.#admitted = admittedPerLimit(admitted);
    this.#limits = limits;
    this.#isLeader = isLeader;
    this.#named = named;
    this.#pausedKeys = pausedKeys;
  }

  /**
   * When to ask again for a gate that had no room only because of named limits; null: there was none. Until a rate or a
   * closing ends, this is exact. The end of a job is not foreseeable: for it, this is `fullPollMs` after now.
   */
  get opensAt(): number | null {
    return this.#opensAt;
  }

  /**
   * Returns how many more jobs the gate admits; 0 for a gate with `leaderOnly` if this instance is not the leader, and
   * for a gate whose key is paused.
   */
  room(text: string): number {
    const limited = this.#limited(text);
    const room = this.#roomBesideUses(limited);
    return room === 0 || limited.uses.length === 0 ? room : Math.min(room, this.#roomOfUses(limited.uses));
  }

  /** Whether as many jobs of the gate's type, or of its definition, are admitted as may be. */
  isTypeFull(text: string): boolean {
    const { gate, ...limited } = this.#limited(text);
    return roomAt({ ...limited, gate: { ...gate, key: null } }, this.#admitted, this.#limits) <= 0;
  }

  /** Whether the gate could admit a job that costs less: no limit on the number of jobs is reached, and none is closed. */
  hasRoomBesideCosts(text: string): boolean {
    const limited = this.#limited(text);
    const { now } = this.#named;
    return this.#roomBesideUses(limited) > 0 && limited.uses.every((use) =>
      this.#roomOfJobs(use) > 0 && (this.#stateOf(use).closedUntil ?? now) <= now && !this.#reserved.has(use.id));
  }

  /**
   * Whether the gate has no room for a reason that all keys of its type share: the type is full, only the leader may
   * admit its jobs, or a named limit without keys has no room.
   */
  isFullForAllKeys(text: string): boolean {
    const { gate, names, uses } = this.#limited(text);
    if (gate.leaderOnly && !this.#isLeader) return true;
    const typeMax = this.#limits.types.get(gate.type) ?? gate.typeMax ?? Infinity;
    if ((this.#admitted.get(names[0]) ?? 0) >= typeMax) return true;
    return uses.some((use) => use.key === null && this.#roomOfUses([use]) === 0);
  }

  /** Admits a job. Candidates must be passed in claim order: a rate that a refused job waits for admits no other job. */
  admit(text: string): boolean {
    const limited = this.#limited(text);
    if (this.room(text) === 0) return this.#refuse(limited);
    for (const limit of limited.names) this.#admitted.set(limit, (this.#admitted.get(limit) ?? 0) + 1);
    for (const use of limited.uses) this.#spend(use);
    return true;
  }

  #refuse(limited: LimitedGate): false {
    const { uses } = limited;
    const waitsForRates = this.#roomBesideUses(limited) > 0 && uses.every((use) => this.#roomOfJobs(use) > 0);
    for (const use of waitsForRates ? uses : []) {
      if (this.#roomOfRate(use) === 0) this.#reserved.add(use.id);
    }
    return false;
  }

  #roomBesideUses(limited: LimitedGate): number {
    if (limited.gate.leaderOnly && !this.#isLeader) return 0;
    if (this.#pausedKeys.has(limited.names[2])) return 0;
    return Math.max(0, roomAt(limited, this.#admitted, this.#limits));
  }

  #roomOfUses(uses: readonly CountedUse[]): number {
    let room = Infinity;
    for (const use of uses) {
      if (this.#reserved.has(use.id)) return 0;
      room = Math.min(room, this.#roomOfJobs(use), this.#roomOfRate(use));
    }
    if (room > 0) return room;
    const opensAt = Math.max(...uses.map((use) => this.#opensFor(use)));
    this.#opensAt = Math.min(this.#opensAt ?? Infinity, opensAt);
    return 0;
  }

  #roomOfJobs(use: CountedUse): number {
    const { concurrency } = this.#stateOf(use).values;
    return concurrency === null ? Infinity : Math.max(0, concurrency - (this.#admitted.get(use.id) ?? 0));
  }

  #roomOfRate(use: CountedUse): number {
    const state = this.#stateOf(use);
    const { now } = this.#named;
    if (state.closedUntil !== null && state.closedUntil > now) return 0;
    return state.values.rate === null ? Infinity : roomIn(state.values.rate, state, use.cost, now);
  }

  #opensFor(use: CountedUse): number {
    const state = this.#stateOf(use);
    const { now } = this.#named;
    return Math.max(
      this.#roomOfJobs(use) > 0 ? now : now + fullPollMs,
      state.closedUntil ?? now,
      state.values.rate === null ? now : opensAt(state.values.rate, state, use.cost, now),
    );
  }

  #spend(use: CountedUse): void {
    const state = this.#stateOf(use);
    if (state.values.rate === null) return;
    this.#states.set(use.id, { ...state, ...spend(state.values.rate, state, use.cost, this.#named.now) });
  }

  #stateOf(use: CountedUse): LimitState {
    const known = this.#states.get(use.id);
    if (known) return known;
    const state = this.#named.stateOf(use.name, use.key);
    this.#states.set(use.id, state);
    return state;
  }

  #limited(text: string): LimitedGate {
    const known = this.#limitedGates.get(text);
    if (known) return known;
    const gate = parseGate(text);
    const limited = { gate, names: limitNames(gate), uses: (gate.uses ?? []).map(countedUse) };
    this.#limitedGates.set(text, limited);
    return limited;
  }
}

/** After how many milliseconds to ask again if as many jobs are running as a named limit allows. */
const fullPollMs = 500;

type LimitNames = readonly [type: string, def: string, key: string, ...uses: string[]];

interface LimitedGate {
  readonly gate: Gate;
  readonly names: LimitNames;
  readonly uses: readonly CountedUse[];
}

/** The use of a named limit, with the id under which its jobs are counted. */
interface CountedUse extends LimitUse {
  readonly id: string;
}

const countedUse = (use: LimitUse): CountedUse => ({ ...use, id: useName(use) });

function admittedPerLimit(admitted: ReadonlyMap<string, number>): Map<string, number> {
  const taken = new Map<string, number>();
  for (const [text, count] of admitted) {
    for (const limit of limitNames(parseGate(text))) taken.set(limit, (taken.get(limit) ?? 0) + count);
  }
  return taken;
}

function roomAt({ gate, names }: LimitedGate, admitted: ReadonlyMap<string, number>, limits: Limits): number {
  const room = (name: string, max = Infinity): number => max - (admitted.get(name) ?? 0);
  return Math.min(
    room(names[0], limits.types.get(gate.type) ?? gate.typeMax),
    gate.def === null ? Infinity : room(names[1], limits.defs.get(gate.def) ?? gate.defMax),
    gate.key === null ? Infinity : room(names[2], limits.keys.get(gate.type)),
  );
}

const limitNames = (gate: Gate): LimitNames => [
  `type ${gate.type}`,
  `def ${gate.def ?? ''}`,
  `key ${gate.type} ${gate.key ?? ''}`,
  ...(gate.uses ?? []).map(useName),
];

const useName = ({ name, key }: Pick<LimitUse, 'name' | 'key'>): string => JSON.stringify([name, key]);
