/** The type entry: what every program must know of a job type to create its runs, whether or not it has the code. */
import type { Policy } from './job.ts';

export interface TypeEntry {
  readonly name: string;
  /** JSON Schema of the input, as JSON text; null: any input, or a schema that only its own library understands. */
  readonly schema: string | null;
  readonly policy: Policy;
  readonly priority: number;
  /** How its runs begin: with their handler, or with the planning of tasks. */
  readonly phase: 'run' | 'prepare';
  readonly onePerType: boolean;
  /** How many runs, tasks, and runs with the same key may be running at a time; null: any number. */
  readonly concurrency: number | null;
  readonly taskConcurrency: number | null;
  readonly keyConcurrency: number | null;
  /** Path of that key in the input, as names from the outside in; null: only the code can compute it. */
  readonly keyPath: readonly string[] | null;
  readonly isolate: 'thread' | 'process' | null;
}

/** How many of its runs may be running at a time; undefined: any number. */
export const typeMaxOf = ({ onePerType, concurrency }: Pick<TypeEntry, 'onePerType' | 'concurrency'>): number | undefined =>
  onePerType ? 1 : (concurrency ?? undefined);

/** A type of which nothing but the name is known. */
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

/** The text at a path of the input by which runs are limited; undefined: there is none. */
export function keyAt(input: unknown, path: readonly string[]): string | undefined {
  let value = input;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
