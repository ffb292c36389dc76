/** The stored input of a run, or of the runs of a definition. Null may mean that no input was given. */
import { orElse, type MaybePromise } from '../../time/maybe-promise.ts';

/** Validates a stored input. If the schema refuses null, undefined is validated instead. */
export const checkStored = (check: (input: unknown) => MaybePromise<unknown>, input: unknown): MaybePromise<unknown> =>
  input === null ? orElse(() => check(null), () => check(undefined)) : check(input);
