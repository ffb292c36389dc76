// The faults of the lines between processes and the server: what becomes of each statement.
import { latencyOf, type Faults, type SimSettings } from '../faults.ts';
import type { RandomStream } from '../random-streams.ts';

/**
 * `silent`: the line carries nothing any more, and no end is told: from before the statement arrives, or from after it was
 * executed. `busy`: the server executes something else instead, which fails like a serialization failure.
 */
export type Delivery =
  | 'arrives' | 'lost request' | 'lost reply' | 'deadly reply' | 'silent before' | 'silent after' | 'busy';

/** A call has several statements, and the chances of the settings are per call. */
const statementsPerCall = 5;
const silentChance = 0.001;
const busyChance = 0.002;

export class LineFaults {
  readonly #faults: Faults;
  readonly #settings: SimSettings;
  readonly #name: string;
  readonly #random: RandomStream;
  readonly #onFault: (delivery: Delivery) => void;
  #statements = 0;

  constructor(faults: Faults, settings: SimSettings, name: string, random: RandomStream, onFault: (delivery: Delivery) => void) {
    this.#faults = faults;
    this.#settings = settings;
    this.#name = name;
    this.#random = random;
    this.#onFault = onFault;
  }

  latencyMs(): number {
    return latencyOf(this.#random, this.#faults.isStopped ? 0 : this.#settings.slow / statementsPerCall);
  }

  /** The range of times after which a process learns that its connection is broken. */
  noticeMs(): number {
    return this.#random.between(1, 3_000);
  }

  /** Draws one number for each statement, so that an injected fault does not change later numbers. */
  next(): Delivery {
    this.#statements += 1;
    const drawn = this.#random.next();
    const { lostRequest, lostReply, deadlyReply } = this.#settings;
    const bounds: readonly (readonly [Delivery, number])[] = [
      ['lost request', lostRequest / statementsPerCall], ['lost reply', lostReply / statementsPerCall],
      ['deadly reply', deadlyReply / statementsPerCall],
      ['silent before', lostRequest > 0 ? silentChance : 0], ['silent after', lostReply > 0 ? silentChance : 0],
      ['busy', lostRequest > 0 ? busyChance : 0],
    ];
    let bound = 0;
    for (const [delivery, chance] of bounds) {
      bound += chance;
      if (drawn < bound) return this.#inject(delivery);
    }
    return 'arrives';
  }

  #inject(delivery: Delivery): Delivery {
    if (!this.#faults.inject(`${delivery} ${this.#name} ${this.#statements}`)) return 'arrives';
    this.#onFault(delivery);
    return delivery;
  }
}
