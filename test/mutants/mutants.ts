// The mutants: guards taken out of the source, one at a time and in sets. Whoever checks the promises must notice each.

export interface Cut {
  readonly file: string;
  /** Found exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly title: string;
  readonly cuts: readonly Cut[];
  /** Seeds that are known to find it, tried first. */
  readonly seeds: readonly number[];
  /** Its first seed finds it within seconds. */
  readonly isQuick?: true;
}

const cut = (file: string, from: string, to: string): Cut => ({ file: `src/${file}`, from, to });

const noFence = cut('model/machine.ts', `'running' && job.fence === fence`, `'running' && fence > 0`);
const noVersion = cut(
  'store/sqlite/write/bulk-update.ts',
  '${updateSql} WHERE version = ? AND',
  '${updateSql} WHERE ? > 0 AND',
);
const noTurnstile = cut('model/gate.ts', 'if (this.room(text) === 0) return false;', '');
const noKeys = cut('store/sqlite/write/unique-keys.ts', 'WHERE taken.until <= ?4', 'WHERE ?4 > 0');
const noDoubt = cut(
  'engine/loops/claimer.ts',
  `this.#doubt = { cause: 'lost answer', until: clock.monotonic() + leaseMs };`,
  'void [clock, leaseMs];',
);
const noFormerLife = cut('engine/loops/claimer.ts', `= { cause: 'former life', until: -Infinity };`, `= null;`);
const noSecondTry = cut('engine/work/finisher.ts', 'if (this.#givenUp.signal.aborted)', 'if (tries >= 0)');
const noOrphans = cut('jobs/settle.ts', 'if (parents.length === 0) return 0;', 'if (parents.length >= 0) return 0;');

export const mutants: readonly Mutant[] = [
  { title: 'who lost the lease can still write', cuts: [noFence], seeds: [116, 5], isQuick: true },
  { title: 'a row is written whatever its version', cuts: [noVersion], seeds: [1], isQuick: true },
  {
    title: 'a gate lets everybody pass',
    cuts: [noTurnstile, cut('store/sqlite/claim/gates.ts', 'Math.min(turnstile.room(gate), request.limit)', 'request.limit')],
    seeds: [1],
    isQuick: true,
  },
  { title: 'a unique key is given to all who ask', cuts: [noKeys], seeds: [1], isQuick: true },
  { title: 'a claim without an answer is forgotten', cuts: [noDoubt], seeds: [305, 116], isQuick: true },
  { title: 'children of ended parents stay', cuts: [noOrphans], seeds: [203, 285, 150, 25, 305] },
  {
    title: 'a repairer takes the job of the new holder',
    cuts: [cut('engine/loops/reaper.ts', `{ do: 'lapse', fence: job.fence }`, `{ do: 'lapse' }`)],
    seeds: [11, 5],
    isQuick: true,
  },
  {
    title: 'an instance is taken for gone before its lease is over',
    cuts: [cut('store/sqlite/maintain/leases.ts', 'instance.lease_until <= ?1', 'instance.lease_until <= ?1 + 4000')],
    seeds: [1],
    isQuick: true,
  },
  {
    title: 'a retried run jumps its gate',
    cuts: [cut('model/evolve.ts', 'hold: e.hold } : { ...o', 'hold: e.hold, admitted: job.gate !== null } : { ...o')],
    seeds: [247, 25, 110],
    isQuick: true,
  },
  {
    title: 'a parent goes on while a child is open',
    cuts: [cut('store/sqlite/maintain/leases.ts', 'NOT EXISTS (SELECT 1 FROM job child', 'EXISTS (SELECT 1 FROM job child')],
    seeds: [1],
    isQuick: true,
  },
  {
    title: 'tasks of a cancelled run are handed out',
    cuts: [cut('apply.ts', 'until, parentCancelled }', 'until, parentCancelled: parentCancelled && false }')],
    seeds: [285, 150, 203, 25],
  },
  {
    title: 'a job that takes its workers down is tried for ever',
    cuts: [cut('model/machine.ts', 'job.crashes >= retry.crashesMax', 'job.crashes >= retry.crashesMax + 100')],
    seeds: [2, 190],
    isQuick: true,
  },
  {
    title: 'a success counts after a cancel',
    cuts: [cut('model/machine.ts', `if (job.cancel) return [endingOf(job.cancel, 'succeeded')];`, '')],
    seeds: [305],
    isQuick: true,
  },
  {
    title: 'ticks that are skipped are not told',
    cuts: [cut('model/definition.ts', '[...skipped, ...fired].sort(', `fired.filter((tick) => 'run' in tick).sort(`)],
    seeds: [29, 2],
    isQuick: true,
  },
  {
    title: 'time falls along a history',
    cuts: [cut('model/machine.ts', 'at: Math.max(after.changed, asking.now)', 'at: asking.now')],
    seeds: [110, 75],
    isQuick: true,
  },
  {
    title: 'what belongs together is written in part',
    cuts: [cut('apply.ts', 'changes: effective, whole: true,', 'changes: effective, whole: false,')],
    seeds: [116, 129],
    isQuick: true,
  },
  {
    title: 'jobs are handed out before they are due',
    cuts: [
      cut('model/machine.ts', 'if (job.due > now)', 'if (job.due > now + 60_000)'),
      cut('store/sqlite/claim/lanes.ts', 'type, priority, now, request.limit', 'type, priority, now + 60_000, request.limit'),
    ],
    seeds: [25],
    isQuick: true,
  },
  { title: 'neither a former life nor lost answers', cuts: [noFormerLife, noDoubt], seeds: [367, 55] },
  { title: 'neither a second try nor lost answers', cuts: [noSecondTry, noDoubt], seeds: [305] },
  { title: 'neither fence nor version', cuts: [noFence, noVersion], seeds: [1], isQuick: true },
  { title: 'neither keys nor orphans nor lost answers', cuts: [noKeys, noOrphans, noDoubt], seeds: [1] },
];
