// Says that two types are the same, to the compiler alone: `npm run typecheck` is the test.

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only if the value has exactly this type: `exactly<string>()(value)`. */
export const exactly =
  <Wanted>() =>
  <Given>(_value: Given, ..._proof: Same<Given, Wanted> extends true ? [] : ['the type is', Given]): void => {};
