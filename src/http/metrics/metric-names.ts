/**
 * The metrics of /metrics: kind, labels and help text of each. The endpoint and the reference are generated from this
 * table.
 */

export interface MetricMeta {
  readonly kind: 'gauge' | 'counter' | 'histogram';
  readonly labels?: readonly string[];
  readonly help: string;
}

export const metricNames = {
  stint_jobs: {
    kind: 'gauge', labels: ['type', 'standing'],
    help: 'Open jobs. The 50 types with most jobs have a label of their own, the rest is "other types".',
  },
  stint_oldest_ready_seconds: { kind: 'gauge', help: 'How long the oldest waiting job has been due.' },
  stint_instances: { kind: 'gauge', help: 'Live instances.' },
  stint_slots: { kind: 'gauge', help: 'Slots of all live instances.' },
  stint_slots_busy: { kind: 'gauge', help: 'Slots in use.' },
  stint_batches: {
    kind: 'gauge', labels: ['type'],
    help: 'Batches that the live instances have handled since their start. The first 50 types have a label of their own, '
      + 'the rest is "other types".',
  },
  stint_batch_jobs: { kind: 'gauge', labels: ['type'], help: 'The jobs of these batches.' },
  stint_batch_jobs_waiting: {
    kind: 'gauge', help: 'Claimed jobs that wait for others of their batch, up to 1,000 per instance.',
  },
  stint_questions_open: { kind: 'gauge', help: 'Questions of handlers that wait for an answer.' },
  stint_question_oldest_seconds: { kind: 'gauge', help: 'How long the oldest of these questions has waited.' },
  stint_event_loop_lag_seconds: { kind: 'gauge', help: 'Lag of the event loop of this server, 99th percentile.' },
  stint_stuck_jobs: {
    kind: 'gauge', labels: ['reason'],
    help: 'Jobs that do not proceed without a live engine, or because of a fault: "lapsed" lost their holder, '
      + '"unsettled" wait for children that have all ended, "unknown_type" have no instance with their code. '
      + 'The first two are counted up to 100.',
  },
  stint_limit_jobs: {
    kind: 'gauge', labels: ['limit'],
    help: 'Running jobs of a named limit; if it has keys, of its fullest key. Up to 50 limits.',
  },
  stint_limit_concurrency: {
    kind: 'gauge', labels: ['limit'], help: 'How many jobs a named limit lets run at a time, per key.',
  },
  stint_limit_wait_seconds: {
    kind: 'gauge', labels: ['limit'],
    help: 'How long no job of a named limit may start, because of its rate or because a job has closed it.',
  },
  stint_pauses: {
    kind: 'gauge', labels: ['scope'],
    help: 'Pauses in force: of whole job types, or of one key of a type.',
  },
  stint_inbox_requests: {
    kind: 'gauge', labels: ['standing'],
    help: 'Requests that programs have written in SQL and that have not become runs: waiting or refused.',
  },
  stint_pool_connections: {
    kind: 'gauge', labels: ['state'],
    help: 'Connections of this server to its database, by state: open, idle, waiting, max.',
  },
  stint_store_bytes: { kind: 'gauge', help: 'Size of the store on disk.' },
  stint_store_oldest_transaction_seconds: { kind: 'gauge', help: 'Age of the oldest open transaction.' },
  stint_stream_readers: { kind: 'gauge', help: 'Clients that read server-sent events from this server.' },
  stint_workers_waiting: { kind: 'gauge', help: 'Remote workers that wait for work at this server.' },
  stint_http_requests_total: {
    kind: 'counter', labels: ['route', 'status'], help: 'Requests answered by this server.',
  },
  stint_counting: {
    kind: 'gauge',
    help: 'Whether this server counts the events of the store. One server does, so the counters and histograms of '
      + 'events can be summed over all servers; scrape all of them.',
  },
  stint_events_total: { kind: 'counter', labels: ['kind'], help: 'Events of jobs.' },
  stint_jobs_ended_total: {
    kind: 'counter', labels: ['type', 'fate'],
    help: 'Jobs that ended. The first 50 types have a label of their own, the rest is "other types".',
  },
  stint_jobs_retried_total: { kind: 'counter', labels: ['type'], help: 'Attempts that failed and are repeated.' },
  stint_ticks_total: {
    kind: 'counter', labels: ['outcome'],
    help: 'Ticks of schedules: run, late (by more than a second), or skipped with the reason.',
  },
  stint_questions_total: {
    kind: 'counter', labels: ['outcome'],
    help: 'Answers and ends of questions: "answered", "timeout", or why a handler has refused an answer that came early, '
      + '"schema" or "role".',
  },
  stint_definition_runs_total: {
    kind: 'counter', labels: ['definition', 'fate'],
    help: 'Runs of definitions that ended. The first 500 definitions (option metricDefinitionsMax) have a label of their own, '
      + 'the rest is "other definitions".',
  },
  stint_definition_attempts_total: { kind: 'counter', labels: ['definition'], help: 'Attempts of these runs that ended.' },
  stint_definition_attempt_seconds_total: {
    kind: 'counter', labels: ['definition'], help: 'How long these attempts took together.',
  },
  stint_definition_claims_total: { kind: 'counter', labels: ['definition'], help: 'Claims of runs of definitions.' },
  stint_definition_wait_seconds_total: {
    kind: 'counter', labels: ['definition'], help: 'How long these runs waited together, from due to claimed.',
  },
  stint_definition_ticks_total: {
    kind: 'counter', labels: ['definition', 'outcome'], help: 'Ticks of a definition, by the outcomes of stint_ticks_total.',
  },
  stint_definition_tick_late_seconds_total: {
    kind: 'counter', labels: ['definition'], help: 'How late the ticks that started a run were together.',
  },
  stint_definition_last_success_timestamp_seconds: {
    kind: 'gauge', labels: ['definition'],
    help: 'When a run of the definition last succeeded, in seconds since 1970. Each server has it, also after a restart.',
  },
  stint_wait_seconds: { kind: 'histogram', labels: ['type'], help: 'Time from due to claimed.' },
  stint_follow_wait_seconds: {
    kind: 'histogram', labels: ['type'], help: 'Time that a run waited for the runs that it follows.',
  },
  stint_family_wait_seconds: {
    kind: 'histogram', labels: ['type'], help: 'Time that a run waited for its tasks or children.',
  },
  stint_run_seconds: { kind: 'histogram', labels: ['type'], help: 'Duration of an attempt.' },
} as const satisfies Record<string, MetricMeta>;

export type MetricName = keyof typeof metricNames;

/** The metrics that are histograms. */
export type DurationName = { [N in MetricName]: (typeof metricNames)[N]['kind'] extends 'histogram' ? N : never }[MetricName];

/** The HELP and TYPE lines, which precede the values of a metric. */
export const headOf = (name: MetricName): string[] => [
  `# HELP ${name} ${metricNames[name].help}`,
  `# TYPE ${name} ${metricNames[name].kind}`,
];
