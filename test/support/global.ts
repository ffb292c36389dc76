// What happens once around a whole test run: a PostgreSQL for it, and its end.
import type { TestProject } from 'vitest/node';
import { postgresOnDemand } from './postgres-on-demand.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for the PostgreSQL that all test files share; use `serverUrl()` or `freshDatabase()`. */
    postgresPort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await postgresOnDemand();
  project.provide('postgresPort', postgres.port);
  return () => postgres.stop();
}
