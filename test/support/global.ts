// What happens once around a whole test run: a PostgreSQL for it, and its end.
import type { TestProject } from 'vitest/node';
import { postgresOnDemand, type PostgresOnDemand } from './postgres-on-demand.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for the PostgreSQL that all test files share; use `serverUrl()` or `freshDatabase()`. */
    postgresPort: number;
  }
}

/** Each project of the run calls `setup`, in a module of its own: they share the server of the process. */
const ofProcess = globalThis as { testPostgres?: Promise<PostgresOnDemand> };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  ofProcess.testPostgres ??= postgresOnDemand();
  const postgres = await ofProcess.testPostgres;
  project.provide('postgresPort', postgres.port);
  return () => postgres.stop();
}
