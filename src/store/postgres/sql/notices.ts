/** The parts of notifications that every process accepts, the one that sent it included. */

/** The parameters of `pg_notify`. */
export type Notice = readonly [channel: string, payload: string];

/** The tag of such a notification. It has the length of the tags of processes (see wake.ts), but equals none. */
export const noTag = '-'.repeat(16);

/** Follows the tag if the inbox may have new requests. */
export const inboxNotice = 'inbox';
