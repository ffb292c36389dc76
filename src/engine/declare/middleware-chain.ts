/** The chain of middleware: each calls `next` to continue with the one after it; the first is the outermost. */
import { Refusal } from '../../refusal.ts';

type Layer<Value, Changes> = (value: Value, next: (changes?: Changes) => Promise<void>) => unknown;

export interface Chain<Value, Changes> {
  readonly layers: readonly Layer<Value, Changes>[];
  /** Returns the value for the next layer, with the changes that this layer passed to `next`. */
  readonly merge: (value: Value, changes: Changes) => Value;
  /** Called by `next` of the last layer. */
  readonly innermost: (value: Value) => Promise<void>;
}

/**
 * Calls the layers. Resolves when the outermost layer has returned and the innermost function has ended, even if a
 * layer did not await `next`. Rejects with the error of a layer, else with that of the innermost function: a layer that
 * catches this error and does not throw does not hide it.
 */
export async function callThrough<Value, Changes>(
  chain: Chain<Value, Changes>,
  value: Value,
  index = 0,
): Promise<void> {
  const layer = chain.layers[index];
  if (layer === undefined) return chain.innermost(value);
  const call: InnerCall = { inner: null, isRepeated: false };
  const next = (changes?: Changes): Promise<void> =>
    callOnce(call, () => callThrough(chain, changes === undefined ? value : chain.merge(value, changes), index + 1));
  try {
    await layer(value, next);
  } catch (error) {
    await ended(call.inner);
    throw error;
  }
  if (call.inner === null) throw notCalled();
  await call.inner;
  if (call.isRepeated) throw calledTwice();
}

/** What a layer has done with its `next`. */
interface InnerCall {
  inner: Promise<void> | null;
  isRepeated: boolean;
}

function callOnce(call: InnerCall, continueInside: () => Promise<void>): Promise<void> {
  call.isRepeated = call.inner !== null;
  if (call.isRepeated) return Promise.reject(calledTwice());
  call.inner = continueInside();
  call.inner.catch(() => {}); // `callThrough` awaits it: a layer that does not causes no unhandled rejection
  return call.inner;
}

async function ended(inner: Promise<void> | null): Promise<void> {
  try {
    await inner;
  } catch {
    // The layer has thrown an error of its own.
  }
}

const notCalled = (): Refusal =>
  new Refusal('wrong.middleware', 'a middleware returned without calling next: call it, or throw an error to refuse');

const calledTwice = (): Refusal => new Refusal('wrong.middleware', 'a middleware called next twice: call it once');
