/**
 * better-sqlite3: its connections are refused. The package contains a copy of SQLite of its own, and POSIX locks do not
 * hold between two copies in one process: both can be in a write transaction on one file, and the later commit
 * overwrites the earlier one (https://sqlite.org/howtocorrupt.html, 2.2.1).
 */
export const isBetterSqlite3 = (value: object): boolean => {
  const { open, inTransaction, prepare } = value as Record<string, unknown>;
  return typeof open === 'boolean' && typeof inTransaction === 'boolean' && typeof prepare === 'function';
};

export const ownCopyOfSqlite = {
  what: 'a connection of better-sqlite3, which has its own copy of SQLite',
  todo: 'open the file with node:sqlite: two copies in one process ignore the locks of each other and lose commits',
};
