// The mutants: guards removed from the source, alone and in sets. The simulator must report a violation for each.

export interface Cut {
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
}

export interface Mutant {
  readonly title: string;
  readonly cuts: readonly Cut[];
  /** Seeds that are known to find the mutant. They are tried first. */
  readonly seeds: readonly number[];
  /** For how long faults are injected, if it takes longer than for others. */
  readonly chaosMs?: number;
  /** Its first seed finds it within seconds: the test suite hunts it too. */
  readonly isQuick?: true;
}

const cut = (file: string, from: string, to: string): Cut => ({ file: `src/${file}`, from, to });

const noFence = cut('model/machine.ts', `'running' && job.fence === fence`, `'running' && fence > 0`);
const noVersion = cut(
  'store/sqlite/write/bulk-update.ts',
  '${updateSql} WHERE version = ? AND',
  '${updateSql} WHERE ? > 0 AND',
);
const noGateLimit = cut('model/gate.ts', 'if (this.room(text) === 0) return this.#refuse(limited);', '');
const noKeys = cut('store/sqlite/write/unique-keys.ts', 'WHERE unique_key.until <= ?4', 'WHERE ?4 > 0');
const noDoubt = cut(
  'engine/loops/claimer.ts',
  `this.#unknownClaims = { cause: 'lost answer', until: clock.monotonic() + lease.durationMs };`,
  'void [clock, lease];',
);
const noFormerLife = cut('engine/loops/claimer.ts', `= { cause: 'previous process', until: -Infinity };`, `= null;`);
const noSecondTry = cut('engine/attempt/finisher.ts', 'if (this.#retriesEnd.signal.aborted)', 'if (tries >= 0)');
const noOrphans = cut('jobs/settle.ts', 'if (parents.length === 0) return 0;', 'if (parents.length >= 0) return 0;');

const noProceeding = cut('jobs/proceed.ts', 'if (followed.length > 0) await', 'if (followed.length < 0) await');
const noProceedingLater = cut(
  'engine/worker-parts/maintaining.ts', '[settle, closeForgotten, settle, proceedForgotten,', '[settle,',
);

const noCompletionFence = cut(
  'jobs/job-writing.ts', 'fence: checkFence(fence), result }', 'fence: (await this.get(id))?.fence ?? fence, result }',
);
const noCompletionSignal = cut('engine/attempt/completion.ts', 'attempt.signal.throwIfAborted();', '');
const noCompletionRollback = cut(
  'store/sqlite/connection.ts',
  `if (this.db.isOpen && this.db.isTransaction) this.db.exec('ROLLBACK');`,
  `if (this.db.isOpen && this.db.isTransaction) this.db.exec('COMMIT');`,
);

const noPayloadVersions = cut('model/type-version.ts', 'length: to - from + 1', 'length: Math.max(to, 3) - from + 1');
const noUpgrade = cut('engine/declare/upgrade.ts', 'step < to; step += 1', 'step < version; step += 1');

const noSettling = cut('jobs/settle.ts', 'await settleParents(store, asker, [...parents]);', 'void parents;');
const noSettlingLater = cut(
  'engine/worker-parts/maintaining.ts', '[settle, closeForgotten, settle, proceedForgotten,', '[closeForgotten, proceedForgotten,',
);

/** What a tick writes beside its definition and its own runs follows in a commit of its own. */
const followersApart = cut(
  'jobs/tick.ts',
  'return answered.changes;\n  }, () => following);\n  return ticked;',
  `definer.later = answered.changes.filter(({ after }) => after?.follows);
    return answered.changes.filter(({ after }) => !after?.follows);
  });
  if (definer.later?.length > 0) await applyTogether(definer.store, async () => definer.later, () => following);
  return ticked;`,
);
const noHold = cut('jobs/follower-runs.ts', `hold: 'runs',`, '');
const onlyFirstFollowed = cut('jobs/follower-runs.ts', 'spec.after!.map((name): Edge', 'spec.after!.slice(0, 1).map((name): Edge');

const noTransactionNeeded = [
  cut('store/sqlite/store-transaction.ts', 'requireTransaction(this.database);', ''),
  cut('store/sqlite/connection.ts', 'requireTransaction(this.db);', ''),
];

export const mutants: readonly Mutant[] = [
  {
    title: 'a remote worker starts jobs although their leases may have lapsed before the answer to its claim',
    cuts: [cut('client/keep-lease.ts', 'if (clock.monotonic() - since < safeMs(leaseMs)) return since;', 'if (leaseMs > 0) return since;')],
    seeds: [35],
    isQuick: true,
  },
  {
    title: 'a write does not wait for the lock of the file',
    cuts: [cut('store/sqlite/connection.ts', 'if (!isBusy(error)) throw errorOf(error);', 'throw errorOf(error);')],
    seeds: [26],
    isQuick: true,
  },
  {
    title: 'a transaction in which a statement has failed stays open',
    cuts: [cut('store/sqlite/connection.ts', `catch (error) {\n      if (this.db.isTransaction) this.db.exec('ROLLBACK');`, 'catch (error) {')],
    seeds: [26],
    isQuick: true,
  },
  {
    title: 'an error of the disk has no code',
    cuts: [cut('store/sqlite/errors.ts', '[10, { reason:', '[1_000, { reason:')],
    seeds: [26],
    isQuick: true,
  },
  { title: 'a handler goes on in a transaction that SQLite has rolled back', cuts: noTransactionNeeded, seeds: [32] },
  {
    title: 'a job that has a slot counts as unknown until its attempt begins',
    cuts: [cut('engine/loops/claimer.ts', ', ...starting.jobs];', '];')],
    seeds: [5],
  },
  {
    title: 'tasks start in the order of their due times although their runs take turns',
    cuts: [cut('engine/attempt/limit-use.ts', `if (taskFairness === 'run')`, `if (taskFairness === 'none')`)],
    seeds: [107, 127],
  },
  { title: 'the runs of followers are created in a commit after the tick', cuts: [followersApart], seeds: [45], isQuick: true },
  { title: 'the run of a follower does not wait', cuts: [noHold], seeds: [45], isQuick: true },
  { title: 'the run of a follower waits only for the first definition that it follows', cuts: [onlyFirstFollowed], seeds: [45] },
  {
    title: 'two living processes share the name of an instance',
    cuts: [cut('store/sqlite/maintain/instances.ts', 'OR lease_until <= ?2 OR ?6', 'OR lease_until <= ?2 OR ?6 >= 0')],
    seeds: [33, 43],
    isQuick: true,
  },
  { title: 'jobs are claimed by code that does not know their version', cuts: [noPayloadVersions], seeds: [14], isQuick: true },
  { title: 'payloads of older versions are not upgraded', cuts: [noUpgrade], seeds: [14], isQuick: true },
  { title: 'complete ends a job that another worker holds', cuts: [noCompletionFence, noCompletionSignal], seeds: [344] },
  {
    title: 'a request of the inbox becomes a run and stays',
    cuts: [cut('store/sqlite/write/inbox.ts', 'if (isTaken) connection.run', 'if (isTaken && request < 0) connection.run')],
    seeds: [16],
  },
  {
    title: 'a step is stored by a worker that no longer holds the job',
    cuts: [cut('store/sqlite/write/steps.ts', "id = ? AND fence = ? AND state = 'running'", 'id = ? AND ? > 0')],
    seeds: [13, 18, 27],
  },
  {
    title: 'a wait that has ended takes another answer',
    cuts: [cut('jobs/answer.ts', 'if (known !== undefined && isEndedStep(known)) return alreadyEnded(id, known);', '')],
    seeds: [13, 18, 27],
  },
  {
    title: 'a wait that was answered times out',
    cuts: [cut('jobs/answer.ts', 'if (isLate) return [];', '')],
    seeds: [59, 13, 18, 27],
  },
  { title: 'writes of a handler that did not complete stay', cuts: [noCompletionRollback], seeds: [344] },
  {
    title: 'a run starts when one of the runs that it follows has ended',
    cuts: [cut('store/sqlite/maintain/following.ts', 'job.id AND outcome IS NULL)', 'job.id AND outcome IS NULL AND 0)')],
    seeds: [5],
  },
  { title: 'a run waits for runs that have ended', cuts: [noProceeding, noProceedingLater], seeds: [5] },
  { title: 'a holder whose lease has lapsed can still write', cuts: [noFence], seeds: [116, 5], isQuick: true },
  { title: 'a row is written whatever its version', cuts: [noVersion], seeds: [1], isQuick: true },
  {
    title: 'a gate admits every job',
    cuts: [noGateLimit, cut(
      'store/sqlite/claim/gates.ts', 'Math.min(roomAt(connection, admissions, { ...type, gate }, first, request, now), request.limit)', 'request.limit',
    )],
    seeds: [1],
    isQuick: true,
  },
  {
    title: 'a rate admits every job',
    cuts: [cut('model/gate.ts', 'Infinity : roomIn(state.values.rate, state, use.cost, now)', 'Infinity : Infinity')],
    seeds: [7, 17],
  },
  {
    title: 'a named limit admits any number of running jobs',
    cuts: [cut('model/gate.ts', '(this.#admitted.get(use.id) ?? 0)', '0')],
    seeds: [7, 17],
  },
  {
    title: 'a start takes nothing of a rate',
    cuts: [cut('store/sqlite/store.ts', 'spendStarts(this.#connection, changes, limits);', '')],
    seeds: [7, 17],
  },
  {
    title: 'jobs start at a named limit that is paused',
    cuts: [cut('store/limit-use.ts', 'values.pausedUntil ?? 0', '0')],
    seeds: [7, 17],
  },
  {
    title: 'jobs start at a named limit that a handler has closed',
    cuts: [cut('store/limit-use.ts', 'Math.max(use.closedUntil ?? 0, all?.closed_until ?? 0, ', 'Math.max(0, ')],
    seeds: [7, 17],
  },
  {
    title: 'an override of a named limit is not in force',
    cuts: [cut('model/limit-record.ts', '...noLimitValues, ...code, ...override,', '...noLimitValues, ...override, ...code,')],
    seeds: [7, 17],
  },
  {
    title: 'every start costs 1',
    cuts: [cut('store/limit-use.ts', '{ ...use, cost: use.cost * length }', '{ ...use, cost: length }')],
    seeds: [7, 17],
  },
  {
    title: 'each claim begins with the first key',
    cuts: [cut('store/share-line.ts', 'each < key || (each === key', 'each === "" && (each === key')],
    seeds: [9, 4],
  },
  {
    title: 'turns are not recorded',
    cuts: [cut('store/fair-share.ts', 'if (turn) stops.record(turn);', 'if (turn) stops.of(turn.group);')],
    seeds: [9, 4],
  },
  {
    title: 'jobs with shares start in the order of their due times',
    cuts: [cut('store/fair-share.ts', 'if (shared.length === 0) return', 'if (shared.length >= 0) return')],
    seeds: [9, 4],
  },
  {
    title: 'a child that was added is not created',
    cuts: [cut('engine/attempt/child-runs.ts', '{ fence, tasks, details, by', '{ fence, tasks: tasks.slice(1), details, by')],
    seeds: [31, 37],
  },
  {
    title: 'a run does not get its children that failed',
    cuts: [cut('engine/attempt/child-runs.ts', 'if (!isOpen(job)) all.push', `if (!isOpen(job) && job.fate === 'succeeded') all.push`)],
    seeds: [31, 37],
  },
  { title: 'a run waits for children that have ended', cuts: [noSettling, noSettlingLater], seeds: [31] },
  {
    title: 'all jobs of a batch end as the first one',
    cuts: [cut('engine/attempt/batch-runner.ts', 'const { outcome } = member;', 'const { outcome } = this.#members[0]!;')],
    seeds: [21, 40],
  },
  { title: 'a unique key is given to every job', cuts: [noKeys], seeds: [1], isQuick: true },
  { title: 'a claim whose reply was lost is forgotten', cuts: [noDoubt], seeds: [8, 305, 116], isQuick: true },
  { title: 'children of ended parents stay open', cuts: [noOrphans], seeds: [8, 245, 203] },
  {
    title: 'a repair takes the job from its new holder',
    cuts: [cut('jobs/repair.ts', `({ do: 'lapse', fence })`, `({ do: 'lapse' })`)],
    seeds: [13, 15, 28],
    isQuick: true,
  },
  {
    title: 'an instance counts as dead before its lease has lapsed',
    cuts: [cut('store/sqlite/maintain/leases.ts', 'instance.lease_until <= ?1', 'instance.lease_until <= ?1 + 4000')],
    seeds: [1],
    isQuick: true,
  },
  {
    title: 'a retried run passes its gate without a check',
    cuts: [cut('model/evolve.ts', 'hold: e.hold } : { ...o', 'hold: e.hold, admitted: job.gate !== null } : { ...o')],
    seeds: [247, 25, 110],
    isQuick: true,
  },
  {
    title: 'a parent continues while a child is open',
    cuts: [cut('store/sqlite/maintain/families.ts', 'NOT EXISTS (SELECT 1 FROM job child', 'EXISTS (SELECT 1 FROM job child')],
    seeds: [1],
    isQuick: true,
  },
  {
    title: 'tasks of a cancelled run are claimed',
    cuts: [cut('apply.ts', 'until, parentCancelled, ', 'until, parentCancelled: parentCancelled && false, ')],
    seeds: [285, 150, 203, 25],
  },
  {
    title: 'a job that crashes its worker is retried forever',
    cuts: [cut('model/machine.ts', 'job.crashes + 1 >= crashesMaxOf(job.policy)', 'job.crashes + 1 >= crashesMaxOf(job.policy) + 100')],
    seeds: [2, 190],
    isQuick: true,
  },
  {
    title: 'a job succeeds after a cancel',
    cuts: [cut('model/machine.ts', `if (job.cancel) return [endingOf(job.cancel, 'succeeded')];`, '')],
    seeds: [305],
    isQuick: true,
  },
  {
    title: 'skipped ticks are not recorded',
    cuts: [cut('model/definition.ts', '[...skipped, ...fired].sort(', `fired.filter((tick) => 'run' in tick).sort(`)],
    seeds: [29, 2],
    isQuick: true,
  },
  {
    title: 'event times decrease within a history',
    cuts: [cut('model/machine.ts', 'const at = Math.max(job.changed, now);', 'const at = now;')],
    seeds: [110, 75],
    isQuick: true,
  },
  {
    title: 'a batch that must be atomic is written in part',
    cuts: [cut('apply.ts', 'changes: effective, whole: true,', 'changes: effective, whole: false,')],
    seeds: [116, 129],
    isQuick: true,
  },
  {
    title: 'jobs are claimed before they are due',
    cuts: [
      cut('model/machine.ts', 'if (job.due > now)', 'if (job.due > now + 60_000)'),
      cut('store/sqlite/claim/lanes.ts', 'priority, now, request.limit', 'priority, now + 60_000, request.limit'),
    ],
    seeds: [25],
    isQuick: true,
  },
  {
    title: 'jobs of a paused type are claimed',
    cuts: [cut('store/sqlite/read/pauses.ts', 'gate IS NULL AND due > ?', 'gate IS NULL AND due < ? - 1e15')],
    seeds: [3],
    isQuick: true,
  },
  { title: 'no recovery of lost replies or of an earlier process', cuts: [noFormerLife, noDoubt], seeds: [367, 55] },
  { title: 'no second write of outcomes, no recovery of lost replies', cuts: [noSecondTry, noDoubt], seeds: [305] },
  { title: 'no fence and no version', cuts: [noFence, noVersion], seeds: [1], isQuick: true },
  { title: 'no unique keys, orphan repair or recovery of lost replies', cuts: [noKeys, noOrphans, noDoubt], seeds: [1] },
];
