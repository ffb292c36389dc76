/** The due time of a request. It has three names: `dueTime`, `dueAt` as in answers, and `due` as in jobs. */
import { Refusal } from '../../refusal.ts';
import { parseInstant } from '../../time/instant.ts';

export interface DueNames<Time> {
  readonly dueTime?: Time | undefined;
  /** Another name of `dueTime`. */
  readonly dueAt?: Time | undefined;
  /** Another name of `dueTime`. */
  readonly due?: Time | undefined;
}

/** A time as a program can give it: a Date, ISO 8601 with a zone, or milliseconds since 1970. */
export type GivenTime = Date | string | number;

export function instantOfGiven(time: GivenTime): number {
  if (time instanceof Date) return time.getTime();
  return typeof time === 'string' ? parseInstant(time) : time;
}

/** Returns the due time; undefined: none was given. Refuses two of the three names, or one of them with `delay`. */
export function dueTimeOf<Time>(
  { dueTime, dueAt, due, delay }: DueNames<Time> & { readonly delay?: unknown },
): Time | undefined {
  const count = [dueTime, dueAt, due, delay].filter((value) => value !== undefined).length;
  if (count < 2) return dueTime ?? dueAt ?? due;
  const given = Object.entries({ dueTime, dueAt, due, delay }).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name).join(' and ');
  throw new Refusal('malformed.option', `${names} exclude each other: give one of them`, { given: names });
}
