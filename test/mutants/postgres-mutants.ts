// The mutants of the PostgreSQL adapter, and of what the engine does with its answers: the simulator must report a violation
// for each when it drives that adapter.
import type { Cut, Mutant } from './mutants.ts';

const cut = (file: string, from: string, to: string): Cut => ({ file: `src/${file}`, from, to });

export const postgresMutants: readonly Mutant[] = [
  {
    title: 'a process uses the clock of its host until the server has answered',
    cuts: [cut('store/postgres/sql/database.ts', 'this.time.observe(rows[0]!.now);', '')],
    seeds: [6],
  },
  {
    title: 'a job that becomes due during a claim waits for a poll',
    cuts: [cut('engine/loops/claimer.ts', 'names: this.#names(types) }, searchedAt);', 'names: this.#names(types) });')],
    seeds: [5],
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
];
