// For test runs that share the PostgreSQL of the run that starts them.
import type { TestProject } from 'vitest/node';

export default function setup(project: TestProject): void {
  project.provide('postgresPort', Number(process.env['STINT_POSTGRES_PORT']));
}
