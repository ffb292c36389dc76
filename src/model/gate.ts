/**
 * The gate: where jobs wait that are limited together. A gate names the type, the definition, the key (a tenant, say)
 * and whether only the leader may pass; how many may be behind it is decided here, from a count of those that are.
 */

export interface Gate {
  readonly type: string;
  readonly def: string | null;
  readonly key: string | null;
  readonly leaderOnly: boolean;
  /** How many of the type, or of the definition, may be behind the gate, unless whoever claims knows better. */
  readonly typeMax?: number;
  readonly defMax?: number;
}

/** How many may run at a time, across all instances; what is not named is not limited. */
export interface Limits {
  readonly types: ReadonlyMap<string, number>;
  readonly defs: ReadonlyMap<string, number>;
  /** Per key of a type. */
  readonly keys: ReadonlyMap<string, number>;
}

export const noLimits: Limits = { types: new Map(), defs: new Map(), keys: new Map() };

export const gateText = ({ leaderOnly, type, def, key, typeMax, defMax }: Gate): string =>
  [leaderOnly ? 'leader' : 'any', type, def ?? '', key ?? '', typeMax ?? '', defMax ?? ''].map(encodeURIComponent).join('/');

export function parseGate(text: string): Gate {
  const [who = '', type = '', def = '', key = '', typeMax = '', defMax = ''] = text.split('/').map(decodeURIComponent);
  return {
    leaderOnly: who === 'leader',
    type,
    def: def || null,
    key: key || null,
    ...(typeMax === '' ? {} : { typeMax: Number(typeMax) }),
    ...(defMax === '' ? {} : { defMax: Number(defMax) }),
  };
}

/** Lets candidates through one after the other, counting the jobs admitted before and each that passes. */
export class Turnstile {
  readonly #admitted: Map<string, number>;
  readonly #limits: Limits;
  readonly #isLeader: boolean;
  /** Of a claim's candidates many are at the same gates. */
  readonly #gates = new Map<string, Gate>();

  constructor(admitted: ReadonlyMap<string, number>, limits: Limits, isLeader: boolean) {
    this.#admitted = admittedPerLimit(admitted);
    this.#limits = limits;
    this.#isLeader = isLeader;
  }

  /** How many more could pass this gate. */
  room(text: string): number {
    const gate = this.#gate(text);
    return gate.leaderOnly && !this.#isLeader ? 0 : Math.max(0, roomAt(gate, this.#admitted, this.#limits));
  }

  /** Whether one more may pass; it is counted when it may. */
  pass(text: string): boolean {
    if (this.room(text) === 0) return false;
    for (const limit of limitNames(this.#gate(text))) this.#admitted.set(limit, (this.#admitted.get(limit) ?? 0) + 1);
    return true;
  }

  #gate(text: string): Gate {
    const known = this.#gates.get(text);
    if (known) return known;
    const gate = parseGate(text);
    this.#gates.set(text, gate);
    return gate;
  }
}

function admittedPerLimit(admitted: ReadonlyMap<string, number>): Map<string, number> {
  const taken = new Map<string, number>();
  for (const [text, count] of admitted) {
    for (const limit of limitNames(parseGate(text))) taken.set(limit, (taken.get(limit) ?? 0) + count);
  }
  return taken;
}

function roomAt(gate: Gate, taken: ReadonlyMap<string, number>, limits: Limits): number {
  const capacities = [
    limits.types.get(gate.type) ?? gate.typeMax,
    gate.def === null ? undefined : (limits.defs.get(gate.def) ?? gate.defMax),
    gate.key === null ? undefined : limits.keys.get(gate.type),
  ];
  const rooms = limitNames(gate).map((limit, level) => (capacities[level] ?? Infinity) - (taken.get(limit) ?? 0));
  return Math.min(...rooms);
}

const limitNames = (gate: Gate): readonly [string, string, string] => [
  `type ${gate.type}`,
  `def ${gate.def ?? ''}`,
  `key ${gate.type} ${gate.key ?? ''}`,
];
