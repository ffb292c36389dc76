/** The child request: the options of a run that a handler starts as its child. */
import type { Duration } from '../../time/duration.ts';

export interface ChildRequest<Input> {
  /** The input of the handler; validated by the schema of the type. */
  readonly input?: Input;
  /** The time from now until the run is due. */
  readonly delay?: Duration;
  /** The run is cancelled if it has not started this long after it is due. */
  readonly startBy?: Duration;
  /** Higher is claimed first. Default: the priority of the type. */
  readonly priority?: number;
  /** While a run with this key is open, no other run with the key is created: the attempt that adds one fails. */
  readonly unique?: string;
  /** Names and values by which the run can be found. */
  readonly tags?: Readonly<Record<string, string>>;
}

/** The request parameter of `children.add`: `input` is optional for a type that accepts `undefined`. */
export type ChildRequestOf<Input> = undefined extends Input
  ? [request?: ChildRequest<Input>]
  : [request: ChildRequest<Input> & { readonly input: Input }];

/** All option names: any other name is refused as misspelt. `satisfies` makes the compiler report a missing one. */
export const childRequestNames = Object.keys({
  input: 0, delay: 0, startBy: 0, priority: 0, unique: 0, tags: 0,
} satisfies Record<keyof ChildRequest<unknown>, 0>);
