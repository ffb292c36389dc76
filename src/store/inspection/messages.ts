/** What a store and the process that executes users' SQL send each other. */
import type { RefusalCode } from '../../refusal.ts';
import type { Inspection } from '../store.ts';

/** The columns of Bedrock's table, in its order. */
export const columnNames = [
  'created', 'jobID', 'state', 'name', 'nextRun', 'lastRun', 'repeat', 'data', 'priority', 'parentJobID', 'retryAfter',
] as const;

export type ColumnName = (typeof columnNames)[number];

/** Where the process finds the rows: in an SQLite file, by a SELECT that gives all columns, or sent by the store. */
export type RowLocation = { readonly path: string; readonly select: string } | 'sent';

/** A row as a store sends it, with `data` as its parts. */
export type SentRow = readonly (string | number | null | DataParts)[];

/** The stored data, the count of hand-outs that it is shown with, and the time of the schedule, if any. */
export type DataParts = readonly [input: string, handOuts: number, originalNextRun: string | null];

export type InspectorOrder =
  | { readonly kind: 'query'; readonly sql: string; readonly rowsMax: number; readonly rows: RowLocation }
  /** A JSON list of SentRow, with the columns that were asked for. */
  | { readonly kind: 'rows'; readonly text: string }
  | { readonly kind: 'allSent' };

export type InspectorReport =
  | { readonly kind: 'ready' }
  | { readonly kind: 'needs'; readonly columns: readonly ColumnName[] }
  | { readonly kind: 'found'; readonly inspection: Inspection }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };
