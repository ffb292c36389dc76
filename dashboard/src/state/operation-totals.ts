/** How many jobs the bulk operations of this browser tab began with; the API does not return it later. */
import type { Answer } from '../../../src/http/contract.ts';

const totals = new Map<number, number>();

export function noteOperation({ operation, count }: Answer<'bulk'>): void {
  if (operation !== null) totals.set(operation, count);
}

/** Null: started elsewhere. */
export const operationTotal = (operation: number): number | null => totals.get(operation) ?? null;
