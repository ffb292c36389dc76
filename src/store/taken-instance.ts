/** The rule that an instance name belongs to one process at a time, for all adapters. */
import { Refusal } from '../refusal.ts';
import type { Beat, Instance } from './store.ts';

/** Whether a beat under a registered name comes from another process than the one that has its lease. */
export const isTaken = ({ about, takeOver }: Beat, known: Instance, now: number): boolean =>
  !takeOver && known.leaseUntil > now && isOtherBoot(about.boot, known.about.boot);

export const isOtherBoot = (boot: string | undefined, known: string | undefined): boolean =>
  boot !== undefined && known !== undefined && boot !== known;

export function takenInstance({ id }: Beat): Refusal {
  const message = `an instance named ${id} is running already: stop it, or give this one another name`;
  return new Refusal('taken.instance', message, { instance: id });
}
