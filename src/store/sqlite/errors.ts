/** Turns errors about the file or the disk into refusals that say what to do. */
import { isUnavailable, Refusal } from '../../refusal.ts';

interface Trouble {
  readonly reason: string;
  readonly todo: string;
}

/** The errors about the file or the disk, by SQLite's primary result code. */
const troubles: ReadonlyMap<number, Trouble> = new Map([
  [3, { reason: 'access to the file is denied', todo: 'check the rights of the file and its folder' }],
  // Only where the store does not wait for the lock: outside of `BEGIN IMMEDIATE`, and after it in a file without a WAL.
  [5, { reason: 'the file is locked', todo: 'see which process holds it, then try again' }],
  [6, { reason: 'the file is locked', todo: 'see which process holds it, then try again' }],
  [8, { reason: 'the file is read-only', todo: 'check the rights of the file and its folder, and how the disk is mounted' }],
  [10, { reason: 'the disk failed to read or write', todo: 'check the disk and the system log' }],
  [11, { reason: 'the file is damaged', todo: 'stop all processes that use it, and restore a backup' }],
  [13, { reason: 'the disk is full', todo: 'free space on it' }],
  [14, { reason: 'the file cannot be opened', todo: 'check the path, and the rights of the file and its folder' }],
  [26, { reason: 'the file is not a SQLite database', todo: 'check the path' }],
]);

const busyCodes = new Set([5, 6]);

const codeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff;

export const isBusy = (error: unknown): boolean => busyCodes.has(codeOf(error));

/** Returns the refusal for an error about the file or the disk. Returns any other error unchanged. */
export function errorOf(error: unknown): unknown {
  const trouble = troubles.get(codeOf(error)) ?? troubleOfSystem(error);
  return trouble === undefined ? error : unavailable(trouble.reason, trouble.todo);
}

/** Makes the refusal `unavailable.store`. `reason` must not contain a path, because it may be shown to anyone. */
export const unavailable = (reason: string, todo: string): Refusal =>
  new Refusal('unavailable.store', `cannot use the database file: ${reason}; ${todo}`, { reason });

/**
 * After some errors of the disk, SQLite has rolled back the whole transaction. Later statements would then each be a
 * transaction of their own.
 */
export function requireTransaction({ isTransaction }: { readonly isTransaction: boolean }): void {
  if (isTransaction) return;
  throw unavailable('the transaction was rolled back after an error', 'see the error of the statement before, then try again');
}

/**
 * Returns the result of `read`, or `otherwise` if the file cannot be read at present. For reads that no caller awaits:
 * they only decide whether somebody reads again, who then gets the refusal.
 */
export function orIfUnavailable<T, U>(read: () => T, otherwise: U): T | U {
  try {
    return read();
  } catch (error) {
    if (isUnavailable(error)) return otherwise;
    throw error;
  }
}

/**
 * Returns the trouble for an error of the file system, which occurs when the folder or the file is created. Undefined:
 * the error is of another kind.
 */
function troubleOfSystem(error: unknown): Trouble | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC') return troubles.get(13);
  if (code === 'EROFS') return troubles.get(8);
  if (code === 'EACCES' || code === 'EPERM') return troubles.get(3);
  return code === 'ENOTDIR' || code === 'EISDIR' || code === 'ENOENT' ? troubles.get(14) : undefined;
}
