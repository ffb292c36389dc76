/**
 * The API that commands use: the routes of the HTTP contract by name, answered by a server (`--url`) or, on a store, by
 * the handlers of the same routes in this process. So a command is written once, and has the same answers both ways.
 */
import type { OutputRequest } from '../engine/inspect/output.ts';
import type { Answer, Changed, OutputChunkView, RequestArguments, RunView } from '../http/contract.ts';
import type { StoreRoute } from './store-routes.ts';

export type Arguments<N extends StoreRoute> = {} extends RequestArguments<N>
  ? [request?: RequestArguments<N>]
  : [request: RequestArguments<N>];

export interface CommandApi {
  call<N extends StoreRoute>(name: N, ...request: Arguments<N>): Promise<Answer<N>>;
  /** Yields a run at each change, until it has ended. */
  watch(id: number, signal: AbortSignal): AsyncIterable<RunView>;
  /** Yields the chunks of the output of a run behind a position or from the beginning, then each new one until it has ended. */
  followOutput(id: number, from: OutputStart, signal: AbortSignal): AsyncIterable<OutputChunkView>;
  /** Yields all changes from now on. */
  changes(signal: AbortSignal): AsyncIterable<Changed>;
  /** The time by the clock of the store. */
  now(): number;
  /** The URL of the server or store, without secrets. */
  readonly address: string;
  close(): Promise<void>;
}

export type OutputStart = Pick<OutputRequest, 'after'>;

/** Returns the whole of a list that has pages. */
export async function allPages<T, Cursor extends number | string = number>(
  read: (after: Cursor | undefined) => Promise<{ readonly items: readonly T[]; readonly next: Cursor | null }>,
): Promise<T[]> {
  const all: T[] = [];
  let after: Cursor | undefined;
  do {
    const { items, next } = await read(after);
    all.push(...items);
    after = next ?? undefined;
  } while (after !== undefined);
  return all;
}
