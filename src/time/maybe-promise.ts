/** A value or a promise of it. To await a value that is there already costs a turn of the microtasks each time. */

export type MaybePromise<T> = T | PromiseLike<T>;

export const isPromiseLike = <T>(value: MaybePromise<T>): value is PromiseLike<T> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  typeof (value as { readonly then?: unknown }).then === 'function';

/** Calls `use` with the value, synchronously if it is no promise. */
export const andThen = <T, U>(value: MaybePromise<T>, use: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  isPromiseLike(value) ? value.then(use) : use(value);
