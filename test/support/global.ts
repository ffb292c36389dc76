// What happens once around a whole test run: a PostgreSQL is started for it, and stopped.
import type { TestProject } from 'vitest/node';
import { TestPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The server all test files share; ask `freshDatabase()` for a database on it. */
    pgUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await TestPostgres.create();
  project.provide('pgUrl', postgres.url);
  return () => postgres.stop();
}
