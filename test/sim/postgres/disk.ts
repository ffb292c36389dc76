// The disk of the simulated server: while it is full or failing, some statements are refused by it.
import type { RandomStream } from '../random-streams.ts';
import { changesRows } from './statement-kind.ts';
import type { Statement } from './virtual-statement.ts';

/** `full`: statements that write fail. `failing`: statements that read or write a table fail. */
export type DiskTrouble = 'full' | 'failing';

const usesTable = /\bstint"?\./;
const troubles = {
  full: { fails: ({ text }: Statement) => changesRows(text), chance: 0.8, code: '53100' },
  failing: { fails: ({ text }: Statement) => usesTable.test(text), chance: 0.3, code: '58030' },
} as const;

export class ServerDisk {
  #trouble: { readonly kind: DiskTrouble; readonly random: RandomStream } | null = null;

  /** Some statements fail from now on. */
  fail(kind: DiskTrouble, random: RandomStream): void {
    this.#trouble = { kind, random };
  }

  recover(): void {
    this.#trouble = null;
  }

  /** The statement that is executed instead of the given one, if the disk refuses it; null: it does not. */
  refusalOf(statement: Statement): Statement | null {
    if (this.#trouble === null) return null;
    const { kind, random } = this.#trouble;
    const { fails, chance, code } = troubles[kind];
    if (!fails(statement) || !random.isTrue(chance)) return null;
    return { text: `do $$ begin raise sqlstate '${code}' using message = 'the disk is ${kind}'; end $$` };
  }
}
