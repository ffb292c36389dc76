/**
 * The type entry: the settings of a job type that a program needs to create runs of the type, even without its code.
 */
import type { Policy } from './job.ts';
import type { TypeFairness, TypeLimit } from './type-limit.ts';
import { firstTypeVersion } from './type-version.ts';

export interface TypeEntry {
  readonly name: string;
  /**
   * JSON Schema of the input, as JSON text; null: the type has no schema, or one that cannot be expressed as JSON
   * Schema.
   */
  readonly schema: string | null;
  /** The version of the input that `schema` describes; absent: the first. */
  readonly version?: number;
  /** The oldest version that the code can upgrade; absent: `version`. */
  readonly oldestVersion?: number;
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
  /** How many of its jobs are handled at once, and how long a claimed job waits for others; absent: one by one. */
  readonly batch?: { readonly size: number; readonly waitMs: number };
  /** The named limits of its runs, and of its tasks; absent: none. */
  readonly limits?: readonly TypeLimit[];
  readonly taskLimits?: readonly TypeLimit[];
  /** Absent: its runs are claimed in claim order. */
  readonly fairness?: TypeFairness;
  /** `run`: its tasks take turns by their runs; absent: they have the shares of their runs, if these have any. */
  readonly taskFairness?: 'run';
}

/** Returns how many runs of the type may execute at a time; undefined: any number. */
export const typeMaxOf = ({ onePerType, concurrency }: Pick<TypeEntry, 'onePerType' | 'concurrency'>): number | undefined =>
  onePerType ? 1 : (concurrency ?? undefined);

/** Returns the version with which runs of the type are created. */
export const versionOfEntry = ({ version = firstTypeVersion }: Pick<TypeEntry, 'version'>): number => version;

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
