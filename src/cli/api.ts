/**
 * The API that commands use: the routes of the HTTP contract by name, answered by a server (`--url`) or, on a store, by
 * the handlers of the same routes in this process. So a command is written once, and has the same answers both ways.
 */
import type { Answer, Changed, RequestArguments, RunView } from '../http/contract.ts';
import type { StoreRoute } from './store-routes.ts';

export type Arguments<N extends StoreRoute> = {} extends RequestArguments<N>
  ? [request?: RequestArguments<N>]
  : [request: RequestArguments<N>];

export interface CommandApi {
  call<N extends StoreRoute>(name: N, ...request: Arguments<N>): Promise<Answer<N>>;
  /** Yields a run at each change, until it has ended. */
  watch(id: number, signal: AbortSignal): AsyncIterable<RunView>;
  /** Yields all changes from now on. */
  changes(signal: AbortSignal): AsyncIterable<Changed>;
  /** The time by the clock of the store. */
  now(): number;
  /** The URL of the server or store, without secrets. */
  readonly address: string;
  close(): Promise<void>;
}

/** Returns the whole of a list that has pages. */
export async function allPages<T>(
  read: (after: number | undefined) => Promise<{ readonly items: readonly T[]; readonly next: number | null }>,
): Promise<T[]> {
  const all: T[] = [];
  let after: number | undefined;
  do {
    const { items, next } = await read(after);
    all.push(...items);
    after = next ?? undefined;
  } while (after !== undefined);
  return all;
}
