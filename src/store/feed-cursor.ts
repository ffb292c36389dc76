/** What the cursors of all stores have in common: where reading continues after a loss, and the refusal of others. */
import { Refusal } from '../refusal.ts';

/**
 * How much earlier than the lost event of a cursor reading continues after a restore or a failover: the clock may have
 * been set back in between, or the clocks of two servers may differ. A reader gets the events of this time again.
 */
export const repeatedMs = 60_000;

export const foreignCursor = (detail: { readonly cursor?: string } = {}): Refusal =>
  new Refusal('malformed.cursor', 'this cursor was not made by this store: start again without one', detail);
