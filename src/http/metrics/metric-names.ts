/** The figures of /metrics by name: what each is, and the labels it has. Documents and answers are made from this. */

export interface MetricMeta {
  readonly kind: 'gauge' | 'counter' | 'histogram';
  readonly labels?: readonly string[];
  readonly help: string;
}

export const metricNames = {
  stint_jobs: {
    kind: 'gauge', labels: ['type', 'standing'],
    help: 'Open jobs. The 50 types with most jobs are told by name, the rest as "other types".',
  },
  stint_oldest_ready_seconds: { kind: 'gauge', help: 'How long the job has been due that has waited longest.' },
  stint_instances: { kind: 'gauge', help: 'Instances that live.' },
  stint_slots: { kind: 'gauge', help: 'Handlers that all living instances can run at a time.' },
  stint_slots_busy: { kind: 'gauge', help: 'Handlers that run.' },
  stint_event_loop_lag_seconds: { kind: 'gauge', help: 'How late the event loop of this server is, 99th percentile.' },
  stint_stuck_jobs: {
    kind: 'gauge', labels: ['reason'],
    help: 'Jobs that only a fault, or the want of a living engine, leaves as they are: "lapsed" lost their holder, '
      + '"unsettled" wait for nobody, of "unknown_type" nobody has the code. The first two are counted up to 100.',
  },
  stint_pool_connections: {
    kind: 'gauge', labels: ['state'], help: 'Connections of this server to its database: open, idle, waiting, max.',
  },
  stint_store_bytes: { kind: 'gauge', help: 'What the store takes on disk.' },
  stint_store_oldest_transaction_seconds: { kind: 'gauge', help: 'How long the oldest transaction has been open.' },
  stint_stream_readers: { kind: 'gauge', help: 'Readers of server-sent events on this server.' },
  stint_workers_waiting: { kind: 'gauge', help: 'Workers in other processes that wait here for work.' },
  stint_http_requests_total: {
    kind: 'counter', labels: ['route', 'status'], help: 'Requests that this server answered.',
  },
  stint_events_total: { kind: 'counter', labels: ['kind'], help: 'Events of jobs that this server has seen.' },
  stint_ticks_total: {
    kind: 'counter', labels: ['outcome'],
    help: 'Occurrences of schedules: run, late (by more than a second), or skipped with the reason.',
  },
  stint_wait_seconds: { kind: 'histogram', help: 'From due to claimed.' },
  stint_run_seconds: { kind: 'histogram', help: 'How long one try took.' },
} as const satisfies Record<string, MetricMeta>;

export type MetricName = keyof typeof metricNames;

/** The lines before the values of a metric. */
export const headOf = (name: MetricName): string[] => [
  `# HELP ${name} ${metricNames[name].help}`,
  `# TYPE ${name} ${metricNames[name].kind}`,
];
