// The mutants of the PostgreSQL adapter, and of what the engine does with its answers: the simulator must report a violation
// for each when it drives that adapter.
import type { Cut, Mutant } from './mutants.ts';

const cut = (file: string, from: string, to: string): Cut => ({ file: `src/${file}`, from, to });

export const postgresMutants: readonly Mutant[] = [
  {
    title: 'claims that were lost with their server count as written',
    cuts: [cut('store/postgres/write/unknown-outcome.ts', 'return JSON.stringify(stored) === JSON.stringify(events);', 'return stored.length >= 0;')],
    seeds: [39],
    chaosMs: 240_000,
  },
  {
    title: 'an error of the disk of the server has no code',
    cuts: [cut('store/postgres/sql/errors.ts', `new Set(['53', '58', 'XX'])`, `new Set(['XX'])`)],
    seeds: [11],
    chaosMs: 240_000,
  },
  {
    title: 'a process uses the clock of its host until the server has answered',
    cuts: [cut('store/postgres/sql/database.ts', 'this.time.observe(rows[0]!.now);', '')],
    seeds: [6],
  },
  {
    title: 'a job that becomes due during a claim waits for a poll',
    cuts: [cut('engine/loops/claimer.ts', 'names: this.#names(types) }, searchedAt);', 'names: this.#names(types) });')],
    seeds: [1],
  },
  {
    title: 'jobs of a claim start although the lease may have lapsed before its answer',
    cuts: [cut('engine/loops/claimer.ts', '(epochBefore !== null && lease.epoch === epochBefore)', 'epochBefore !== undefined')],
    seeds: [7],
  },
  {
    title: 'a connection that carries nothing is not noticed',
    cuts: [cut('store/postgres/sql/peer-watch.ts', 'return this.#quietMs(watched) >= watched.probeAfterMs;', 'return false;')],
    seeds: [2],
  },
  {
    title: 'a transaction that is open in another database holds back the feed',
    cuts: [cut(
      'store/postgres/read/history.ts',
      'other.backend_xid = open.xid::xid and other.datname <> current_database()',
      'other.backend_xid = open.xid::xid and false',
    )],
    seeds: [6],
  },
  {
    title: 'two living processes share the name of an instance',
    cuts: [cut('store/postgres/maintain/instances.ts', '<= excluded.beat_at or $8::boolean', '<= excluded.beat_at or $8::boolean is not null')],
    seeds: [1],
  },
  {
    title: 'a start takes nothing of a rate',
    cuts: [cut('store/postgres/claim/claim.ts', 'const spending = locked.limits &&', 'const spending = locked.limits === null &&')],
    seeds: [10],
  },
  {
    title: 'a claim does not read whether a limit is closed',
    cuts: [cut('store/postgres/claim/limits.ts', 'tat, interval, closed_until from', 'tat, interval, null::bigint as closed_until from')],
    seeds: [60],
  },
  {
    title: 'a wait that has ended takes another answer',
    cuts: [cut('jobs/answer.ts', 'if (known !== undefined && isEndedStep(known)) return alreadyEnded(id, known);', '')],
    seeds: [63],
  },
  {
    title: 'all jobs of a batch end as the first one',
    cuts: [cut('engine/attempt/batch-runner.ts', 'const { outcome } = member;', 'const { outcome } = this.#members[0]!;')],
    seeds: [3],
  },
  {
    title: 'a request of the inbox becomes a run and stays',
    cuts: [cut('store/postgres/write/inbox.ts', 'if (ids.size === 0) return;', 'if (ids.size >= 0) return;')],
    seeds: [4],
  },
  {
    title: 'a run does not wait for its children',
    cuts: [cut(
      'store/postgres/maintain/families.ts', `hold = 'children' and open is null`, `hold = 'children' and open is distinct from -1`,
    )],
    seeds: [4],
  },
  {
    title: 'writes of a handler that did not complete stay',
    cuts: [cut('store/postgres/sql/database.ts', `rollback: () => end('rollback')`, `rollback: () => end('commit')`)],
    seeds: [8],
  },
  {
    title: 'jobs are claimed by code that does not know their version',
    cuts: [cut('model/type-version.ts', 'length: to - from + 1', 'length: Math.max(to, 3) - from + 1')],
    seeds: [8],
  },
  {
    title: 'the run of a follower waits only for the first definition that it follows',
    cuts: [cut('jobs/follower-runs.ts', 'spec.after!.map((name): Edge', 'spec.after!.slice(0, 1).map((name): Edge')],
    seeds: [9],
  },
  {
    title: 'a run starts when one of the runs that it follows has ended',
    cuts: [cut('store/postgres/maintain/following.ts', 'job.id and outcome is null\n', 'job.id and outcome is null and false\n')],
    seeds: [9],
  },
];
