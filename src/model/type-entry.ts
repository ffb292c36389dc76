/**
 * The type entry: the settings of a job type that a program needs to create runs of the type, even without its code.
 */
import type { Policy } from './job.ts';
import type { TypeLimit } from './type-limit.ts';

export interface TypeEntry {
  readonly name: string;
  /**
   * JSON Schema of the input, as JSON text; null: the type has no schema, or one that cannot be expressed as JSON
   * Schema.
   */
  readonly schema: string | null;
  readonly policy: Policy;
  readonly priority: number;
  /** The first phase of its runs: executing the handler, or planning tasks. */
  readonly phase: 'run' | 'prepare';
  readonly onePerType: boolean;
  /**
   * `concurrency`: how many runs may execute at a time. `taskConcurrency`: how many tasks. `keyConcurrency`: how many
   * runs with the same key. Null: any number.
   */
  readonly concurrency: number | null;
  readonly taskConcurrency: number | null;
  readonly keyConcurrency: number | null;
  /**
   * The path in the input to the key for `keyConcurrency`, as member names, outermost first. Null: there is no key, or
   * only the code of the type can compute the key.
   */
  readonly keyPath: readonly string[] | null;
  readonly isolate: 'thread' | 'process' | null;
  /** The named limits of its runs, and of its tasks; absent: none. */
  readonly limits?: readonly TypeLimit[];
  readonly taskLimits?: readonly TypeLimit[];
}

/** Returns how many runs of the type may execute at a time; undefined: any number. */
export const typeMaxOf = ({ onePerType, concurrency }: Pick<TypeEntry, 'onePerType' | 'concurrency'>): number | undefined =>
  onePerType ? 1 : (concurrency ?? undefined);

/** Returns the entry for a type of which only the name is known. */
export const unknownType = (name: string): TypeEntry => ({
  name,
  schema: null,
  policy: {},
  priority: 0,
  phase: 'run',
  onePerType: false,
  concurrency: null,
  taskConcurrency: null,
  keyConcurrency: null,
  keyPath: null,
  isolate: null,
});
