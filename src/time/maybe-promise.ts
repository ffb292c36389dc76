/** Later: what may be there at once or be promised. To wait for what is there costs a turn of the microtasks each time. */

export type Later<T> = T | PromiseLike<T>;

export const isPromised = <T>(value: Later<T>): value is PromiseLike<T> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  typeof (value as { readonly then?: unknown }).then === 'function';

/** Goes on with a value, at once if it is there. */
export const whenThere = <T, U>(value: Later<T>, goOn: (value: T) => Later<U>): Later<U> =>
  isPromised(value) ? value.then(goOn) : goOn(value);
