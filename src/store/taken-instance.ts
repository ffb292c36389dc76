/**
 * The rule that a process does not use the instance name of another one, and its refusal. The SQL adapters have the
 * rule in SQL.
 */
import { Refusal } from '../refusal.ts';
import { isLive, type Beat, type Instance } from './store.ts';

/**
 * Returns whether another process uses the instance name of this heartbeat under a lease that has not lapsed; false if
 * `takeOver` is set.
 */
export const isTaken = ({ about, takeOver }: Beat, known: Instance, now: number): boolean =>
  !takeOver && isLive(known, now) && isOtherBoot(about.boot, known.about.boot);

/**
 * Returns whether two boot ids differ. Each start of a process has its own boot id. Returns false if one id is absent,
 * because processes without a boot id may share an instance name.
 */
export const isOtherBoot = (boot: string | undefined, known: string | undefined): boolean =>
  boot !== undefined && known !== undefined && boot !== known;

export function takenInstance({ id }: Beat): Refusal {
  const message = `an instance named ${id} is running already: stop it, or give this one another name`;
  return new Refusal('taken.instance', message, { instance: id });
}
