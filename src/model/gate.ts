/**
 * The gate: a limit that several jobs share. It names the type of these jobs, their definition and their key (such
 * as a tenant), says whether only the leader may admit them, and which named limits they use. `GateAdmissions` computes
 * from the number of admitted jobs, and from the used part of rates, how many more jobs a gate admits.
 */
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

/** A gate without `uses` has the text that it had before there were named limits. */
export const gateText = ({ leaderOnly, type, def, key, typeMax, defMax, uses = [] }: Gate): string =>
  [leaderOnly ? 'leader' : 'any', type, def ?? '', key ?? '', typeMax ?? '', defMax ?? '', ...usesText(uses)]
    .map(encodeURIComponent).join('/');

const usesText = (uses: readonly LimitUse[]): string[] =>
  uses.length === 0 ? [] : [JSON.stringify(uses.map(({ name, key, cost }) => [name, key, cost]))];

export function parseGate(text: string): Gate {
  const [who = '', type = '', def = '', key = '', typeMax = '', defMax = '', uses = ''] = text.split('/').map(decoded);
  return {
    leaderOnly: who === 'leader',
    type,
    def: def || null,
    key: key || null,
    ...(typeMax === '' ? {} : { typeMax: Number(typeMax) }),
    ...(defMax === '' ? {} : { defMax: Number(defMax) }),
    ...(uses === '' ? {} : { uses: usesOf(uses) }),
  };
}

const usesOf = (text: string): LimitUse[] =>
  (JSON.parse(text) as [string, string | null, number][]).map(([name, key, cost]) => ({ name, key, cost }));

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
    if (limited.gate.leaderOnly && !this.#isLeader) return 0;
    if (this.#pausedKeys.has(limited.names[2])) return 0;
    const room = Math.max(0, roomAt(limited, this.#admitted, this.#limits));
    return room === 0 || !limited.gate.uses ? room : Math.min(room, this.#roomOfUses(limited.gate.uses));
  }

  admit(text: string): boolean {
    if (this.room(text) === 0) return false;
    const { names, gate } = this.#limited(text);
    for (const limit of names) this.#admitted.set(limit, (this.#admitted.get(limit) ?? 0) + 1);
    for (const use of gate.uses ?? []) this.#spend(use);
    return true;
  }

  #roomOfUses(uses: readonly LimitUse[]): number {
    const room = Math.min(...uses.map((use) => Math.min(this.#roomOfJobs(use), this.#roomOfRate(use))));
    if (room > 0) return room;
    const opensAt = Math.max(...uses.map((use) => this.#opensFor(use)));
    this.#opensAt = Math.min(this.#opensAt ?? Infinity, opensAt);
    return 0;
  }

  #roomOfJobs(use: LimitUse): number {
    const { concurrency } = this.#stateOf(use).values;
    return concurrency === null ? Infinity : Math.max(0, concurrency - (this.#admitted.get(useName(use)) ?? 0));
  }

  #roomOfRate(use: LimitUse): number {
    const state = this.#stateOf(use);
    const { now } = this.#named;
    if (state.closedUntil !== null && state.closedUntil > now) return 0;
    return state.values.rate === null ? Infinity : roomIn(state.values.rate, state, use.cost, now);
  }

  #opensFor(use: LimitUse): number {
    const state = this.#stateOf(use);
    const { now } = this.#named;
    return Math.max(
      this.#roomOfJobs(use) > 0 ? now : now + fullPollMs,
      state.closedUntil ?? now,
      state.values.rate === null ? now : opensAt(state.values.rate, state, use.cost, now),
    );
  }

  #spend(use: LimitUse): void {
    const state = this.#stateOf(use);
    if (state.values.rate === null) return;
    this.#states.set(useName(use), { ...state, ...spend(state.values.rate, state, use.cost, this.#named.now) });
  }

  #stateOf(use: LimitUse): LimitState {
    const name = useName(use);
    const state = this.#states.get(name) ?? this.#named.stateOf(use.name, use.key);
    this.#states.set(name, state);
    return state;
  }

  #limited(text: string): LimitedGate {
    const known = this.#limitedGates.get(text);
    if (known) return known;
    const gate = parseGate(text);
    const limited = { gate, names: limitNames(gate) };
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
}

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
