/** The messages between a store and the process that executes users' SQL. */
import type { RefusalCode } from '../../refusal.ts';
import type { Inspection } from '../store.ts';

/** The columns of Bedrock's table `jobs`, in the order of that table. */
export const columnNames = [
  'created', 'jobID', 'state', 'name', 'nextRun', 'lastRun', 'repeat', 'data', 'priority', 'parentJobID', 'retryAfter',
] as const;

export type ColumnName = (typeof columnNames)[number];

/**
 * Where the process finds the rows: in a SQLite file, by a SELECT that returns all columns, or in messages from the
 * store (`sent`).
 */
export type RowLocation = { readonly path: string; readonly select: string } | 'sent';

/** A row as a store sends it. The value of the column `data` is sent as its parts. */
export type SentRow = readonly (string | number | null | DataParts)[];

/**
 * The parts of the column `data`: the stored input, and the values of `handOuts` and `originalNextRun` in
 * vocabulary/bedrock.ts. If `handOuts` is 0, the column is the input. Otherwise the column is the input with two more
 * members: the number of hand-outs, and `originalNextRun` unless that is null.
 */
export type DataParts = readonly [input: string, handOuts: number, originalNextRun: string | null];

export type InspectorOrder =
  | { readonly kind: 'query'; readonly sql: string; readonly rowsMax: number; readonly rows: RowLocation }
  /** `text` is a JSON array of SentRow with the columns that the process asked for by `needs`. */
  | { readonly kind: 'rows'; readonly text: string }
  | { readonly kind: 'allSent' };

export type InspectorReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly columns: readonly ColumnName[] }
  | { readonly kind: 'found'; readonly inspection: Inspection }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };
