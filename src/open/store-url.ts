/** The default URL of the store. This file does not import the adapters, which take long to load. */

/** Returns the given URL, or else that of the environment, or else that of a file in the working directory. */
export const storeUrl = (url?: string): string =>
  url ?? process.env['STINT_DATABASE_URL'] ?? process.env['DATABASE_URL'] ?? 'sqlite:.stint/jobs.db';
