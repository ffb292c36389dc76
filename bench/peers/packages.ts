/** The packages of the peers in pinned versions. Only the bench installs them. */

export interface Packages {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

export type PackageName = keyof typeof packages;

export const packages = {
  'graphile-worker': { dependencies: { 'graphile-worker': '0.18.0' } },
  // pg-boss requires a patch release of rrule-temporal that some registries lack. The bench uses no rules.
  'pg-boss': { dependencies: { 'pg-boss': '12.38.0' }, overrides: { 'rrule-temporal': '2.2.7' } },
  bullmq: { dependencies: { bullmq: '6.7.0', ioredis: '6.0.0', pg: '8.23.1' } },
  dbos: { dependencies: { '@dbos-inc/dbos-sdk': '5.3.0' } },
  plainjob: { dependencies: { plainjob: '0.0.14', 'better-sqlite3': '13.0.3' } },
  bunqueue: { dependencies: { bunqueue: '2.9.5', bun: '1.4.4' } },
} as const satisfies Record<string, Packages>;
