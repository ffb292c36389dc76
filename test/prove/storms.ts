// The storms that take part in the proof: each is a module of test/storm that answers its figures.
import { existsSync } from 'node:fs';

/** What a storm did and found; of the figures between, each storm has its own. */
export interface StormFigures {
  readonly name: string;
  readonly violations: number;
  readonly [figure: string]: string | number;
}

/** The entry of the storms: `export const storms: readonly Storm[]`. */
export interface Storm {
  readonly name: string;
  run(ask: { readonly isLong: boolean }): Promise<StormFigures>;
}

const entry = new URL('../storm/storms.ts', import.meta.url);

export async function allStorms(): Promise<readonly Storm[]> {
  if (!existsSync(entry)) return [];
  const { storms } = (await import(entry.href)) as { readonly storms: readonly Storm[] };
  return storms;
}
