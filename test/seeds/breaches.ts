// Breaches of the seeds: for each test of a statement a cut in the source after which it must fail. Defects that the
// simulation cannot reach are planted likewise.
import type { Cut } from '../mutants/mutants.ts';

export interface Breach {
  /** What Stint does wrong with these cuts. */
  readonly title: string;
  readonly cuts: readonly Cut[];
  /** How the titles begin of the tests that must fail, on every store. */
  readonly breaks: readonly string[];
  /** The tests are those with processes of their own, in which the cuts are planted too. */
  readonly isInProcesses?: true;
  /** The tests are in this file, and those of no statement. */
  readonly file?: string;
}

const cut = (file: string, from: string, to: string): Cut => ({ file: `src/${file}`, from, to });
const machine = (from: string, to: string): Cut => cut('model/machine.ts', from, to);
const stage = (from: string, to: string): Cut => cut('vocabulary/stage.ts', from, to);
const progress = (from: string, to: string): Cut => cut('model/progress.ts', from, to);

const noFence = machine(`'running' && job.fence === fence`, `'running' && fence > 0`);

export const breaches: readonly Breach[] = [
  {
    title: 'a lease never lapses',
    cuts: [machine('until !== null && until > now', 'true')],
    breaks: ['1.01', '1.28', '4.03', '5.05', '5.07', '5.10', '5.12', '5.14'],
  },
  {
    title: 'a delay is ignored',
    cuts: [cut('engine/declare/run-request.ts', 'return now + durationMs(request.delay);', 'return now;')],
    breaks: ['1.07', '1.17', '1.18', '5.01', '5.23'],
  },
  {
    title: 'a due time is ignored',
    cuts: [cut('engine/declare/run-request.ts', '? now : instantOfGiven(dueTime);', '? now : now;')],
    breaks: ['1.02', '4.01'],
  },
  {
    title: 'an attempt never times out',
    cuts: [cut('engine/attempt/runner.ts', 'attempt.timeOut(timeoutMs)', 'void timeoutMs')],
    breaks: ['1.03', '1.04', '1.25', '3.11 a failed'],
  },
  {
    title: 'runs do not name their definition',
    cuts: [cut('jobs/definition-draft.ts', 'def: name,', 'def: null,')],
    breaks: ['1.05'],
  },
  {
    title: 'all definitions execute the same type',
    cuts: [cut('jobs/definition-draft.ts', 'type: spec.type,', `type: 'double',`)],
    breaks: ['1.06'],
  },
  {
    title: 'tasks do not get the details of their run',
    cuts: [cut(
      'engine/attempt/handler-caller.ts',
      'parent.details === null ? undefined : parsePayload(parent.details, detailsOf(parent))',
      '({})',
    )],
    breaks: ['1.08'],
  },
  {
    title: 'every task is planned twice',
    cuts: [cut('engine/attempt/phases.ts', 'return plan.add(task);', 'plan.add(task); return plan.add(task);')],
    breaks: ['1.09', '1.10', '5.20'],
  },
  {
    title: 'results are gathered from no tasks',
    cuts: [cut('engine/attempt/phases.ts', 'tasks: endedTasks(parts.jobs, job.id)', 'tasks: endedTasks(parts.jobs, 1e9)')],
    breaks: ['1.11', '1.21'],
  },
  {
    title: 'an engine executes jobs without being resumed',
    cuts: [cut(
      'engine/engine.ts', 'this.instance = instance;',
      'this.instance = instance; queueMicrotask(() => void this.resume());',
    )],
    breaks: ['1.12'],
  },
  {
    title: 'the share of done tasks is wrong',
    cuts: [cut('vocabulary/jobrun.ts', 'part === whole ? 100', 'part === whole ? 99')],
    breaks: ['1.13'],
  },
  {
    title: 'a run is never CANCELLING',
    cuts: [cut('vocabulary/jobrun.ts', `? 'CANCELLING' : `, `? 'RUNNING' : `)],
    breaks: ['1.14', '1.16', '1.29', '1.30', '1.31'],
  },
  {
    title: 'tasks are CANCELLING too',
    cuts: [cut('vocabulary/jobrun.ts', `job.kind !== 'task' ?`, 'job.version > 0 ?')],
    breaks: ['1.15'],
  },
  {
    title: 'a scheduled run is due later than its tick',
    cuts: [cut('jobs/tick.ts', 'due: Math.min(due, now)', 'due: now + 1')],
    breaks: ['1.17', '4.07'],
  },
  {
    title: 'tasks are stored before their run waits for them',
    cuts: [cut(
      'jobs/work.ts', 'if (!job) return unknownJob(run.id);',
      'if (!job) return unknownJob(run.id); await store.commit({ changes: births }); births = [];',
    )],
    breaks: ['1.19'],
  },
  {
    title: 'every other task is never claimed',
    cuts: [machine('if (job.due > now)', `if (job.due > now || (job.kind === 'task' && job.id % 2 === 0))`)],
    breaks: ['1.20', '1.01'],
  },
  {
    title: 'results are not stored',
    cuts: [machine('? withResult(change, command.result) : change', '? change : change')],
    breaks: ['1.10', '1.11', '1.21', '1.24', '3.19', '4.10 a definition', '5.29'],
  },
  {
    title: 'a claim leaves the job in the queue',
    cuts: [cut(
      'model/evolve.ts',
      `claimed.state = 'running';\n    claimed.lease = { holder: e.holder, until: e.until ?? null };`,
      `claimed.state = 'pending';`,
    )],
    breaks: ['1.22', '5.02', '5.24', '5.27'],
  },
  {
    title: 'a claim names another holder',
    cuts: [cut('apply.ts', `(last = { do: 'claim', holder,`, `(last = { do: 'claim', holder: 'nobody',`)],
    breaks: ['1.23', '5.01', '5.02'],
  },
  {
    title: 'errors lose their message',
    cuts: [cut('engine/attempt/stored-error.ts', 'message: messageOf(error),', `message: '',`)],
    breaks: ['1.24', '3.11 a failed', '3.19'],
  },
  {
    title: 'errors lose their own code',
    cuts: [cut('engine/attempt/stored-error.ts', '...(id === undefined ? {} : { id })', '')],
    breaks: ['3.11 the error id'],
  },
  {
    title: 'isTaskErrorRetryable is not asked',
    cuts: [cut('engine/attempt/outcome-commands.ts', 'type.options.isTaskErrorRetryable) ||', 'undefined) ||')],
    breaks: ['1.26'],
  },
  {
    title: 'no failure is retried',
    cuts: [machine(`[{ kind: 'retried', error: command.error, due }]`, `[{ kind: 'failed', error: command.error }]`)],
    breaks: ['1.03', '1.16', '1.25', '1.26', '1.27', '5.25'],
  },
  {
    title: 'failures are retried without end',
    cuts: [machine('job.attempt >= retry.attemptsMax)', 'job.attempt >= retry.attemptsMax + 100)')],
    breaks: ['1.03', '1.04', '1.16', '1.27'],
  },
  {
    title: 'a cancel ends a running job at once',
    cuts: [machine('held: cancelHeld, running: askToCancel }', 'held: cancelHeld, running: endCancelled }')],
    breaks: ['4.23', '4.26', '4.36', '4.37'],
  },
  {
    title: 'a cancelled run does not wait for its tasks',
    cuts: [machine(
      `job.hold === 'children' ? askToCancel(job, command, asking) : endCancelled`,
      `job.hold === null ? askToCancel(job, command, asking) : endCancelled`,
    )],
    breaks: ['1.14', '1.15', '1.29', '1.30', '1.31'],
  },
  {
    title: 'a success after a cancel counts',
    cuts: [machine(`if (job.cancel) return [endingOf(job.cancel, 'succeeded')];`, '')],
    breaks: ['1.30', '4.26'],
  },
  {
    title: 'events are later than the changes that they record',
    cuts: [machine('Math.max(job.changed, now)', 'Math.max(job.changed, now) + 1')],
    breaks: ['3.01', '3.05', '3.16'],
  },
  {
    title: 'ended jobs are removed at once',
    cuts: [cut('open.ts', 'jobsMs: retention === null ? null : durationMs(retention)', 'jobsMs: 1')],
    breaks: ['3.02', '3.14'],
  },
  {
    title: 'a cancelled job is not done',
    cuts: [stage(`cancelled: 'done',`, `cancelled: 'run',`)],
    breaks: ['3.03', '3.13'],
  },
  {
    title: 'a waiting job is in create',
    cuts: [stage(`  pending: 'queue',`, `  pending: 'create',`)],
    breaks: ['3.04', '3.06', '3.07', '3.16', '3.17'],
  },
  {
    title: 'inputs are not validated',
    cuts: [cut(
      'engine/declare/type-rules.ts',
      '(input) => checked(schema, input, name)',
      '(input) => schema && input',
    )],
    breaks: ['3.05'],
  },
  {
    title: 'a cancelled job counts as failed',
    cuts: [stage(`cancelled: 'terminate',`, `cancelled: 'error',`)],
    breaks: ['3.08'],
  },
  {
    title: 'a job in the queue can succeed',
    cuts: [
      machine('succeed: { running: succeed },', 'succeed: { running: succeed, pending: succeed },'),
      machine(`job.state === 'running' && job.fence === fence`, `job.state !== 'ended' && fence > 0`),
    ],
    breaks: ['3.09'],
  },
  {
    title: 'a job that loses its workers in the queue counts as cancelled',
    cuts: [machine(
      `[{ kind: 'failed', error: poisoned(job, 'its workers') }]`,
      `[{ kind: 'cancelled', code: 'automation' }]`,
    )],
    breaks: ['3.10'],
  },
  {
    title: 'a timeout has the id of another error',
    cuts: [stage(`'timed out': 3,`, `'timed out': 0,`)],
    breaks: ['3.11 a failed'],
  },
  {
    title: 'administrators have the code of users',
    cuts: [stage('admin: 1,', 'admin: 0,')],
    breaks: ['3.12 a terminated'],
  },
  {
    title: 'the server gives administrators the code of users',
    cuts: [cut('http/access/principal.ts', `role === 'admin' && !isLocal ? 'admin' : 'user'`, `role === 'admin' && isLocal ? 'admin' : 'user'`)],
    breaks: ['3.12 a cancel'],
  },
  {
    title: 'the server does not name the user who cancels',
    cuts: [cut('http/routes/runs.ts', 'by: actor(principal),\n  ...(why', `by: 'http',\n  ...(why`)],
    breaks: ['3.12 a user'],
  },
  {
    title: 'a done job can be stopped again',
    cuts: [machine(
      'held: endCancelled, running: endCancelled }',
      'held: endCancelled, running: endCancelled, ended: endCancelled }',
    )],
    breaks: ['3.14'],
  },
  {
    title: 'a terminated job is shown as complete',
    cuts: [stage(`return { type: 'TERMINATE', at,`, `return { type: 'COMPLETE', at,`)],
    breaks: ['3.15'],
  },
  {
    title: 'no job has a position in the queue',
    cuts: [stage(`stage === 'queue' ? position : null`, 'null')],
    breaks: ['3.06', '3.17'],
  },
  { title: 'the log is left out', cuts: [stage('{ at: ran, log }', '{ at: ran, log: [] }')], breaks: ['3.16', '3.18'] },
  {
    title: 'retries are not recorded',
    cuts: [machine(
      'return { before: job, after, events };', `return { before: job, after, events: events.filter(({ kind }) => kind !== 'retried') };`,
    )],
    breaks: ['3.20'],
  },
  {
    title: 'a row differs from what its events make of it',
    cuts: [machine('after = evolve(after, event);', 'after = { ...evolve(after, event), priority: 9 };')],
    breaks: ['3.20', '3.21'],
  },
  {
    title: 'runs of a type with onePerType are not limited',
    cuts: [
      cut('model/definition.ts', 'gateOf(onePerType ? 1 :', 'gateOf(!onePerType ? 1 :'),
      cut('model/type-entry.ts', 'onePerType ? 1 :', 'false ? 1 :'),
      cut(
        'engine/declare/type-registry.ts',
        'if (typeMax !== undefined) types.set(name, typeMax);',
        'if (name === null) types.set(name, 1);',
      ),
    ],
    breaks: ['4.02 of several'],
  },
  {
    title: 'a definition switches the onePerType of its type off',
    cuts: [
      cut('model/definition.ts', 'spec.onePerType || (type?.onePerType ?? false)', 'spec.onePerType'),
      cut('model/definition.ts', 'gateOf(typeMaxOf(type), own.concurrency)', 'gateOf(undefined, own.concurrency)'),
    ],
    breaks: ['4.02 no definition'],
  },
  {
    title: 'parameters of definitions are not checked',
    cuts: [cut('engine/definition-actions.ts', 'await checkParams(rules, options)', 'options.params')],
    breaks: ['4.10 HTTP'],
  },
  {
    title: 'every type is limited to one run',
    cuts: [cut('model/definition.ts', 'gateOf(onePerType ? 1 :', 'gateOf(true ? 1 :')],
    breaks: ['4.02 without'],
  },
  {
    title: 'overlap is noticed within a definition only',
    cuts: [cut('model/definition.ts', 'spec.onePerType ? `live type', 'spec.type === null ? `live type')],
    breaks: ['4.18'],
  },
  {
    title: 'a run by hand is not refused while another is open',
    cuts: [
      cut('engine/declare/one-per-type.ts', 'if (!isBusy) return;', 'return;'),
      cut('engine/declare/run-request.ts', '&& due <= now', '&& due < 0'),
    ],
    breaks: ['4.03', '4.17', '4.19'],
  },
  {
    title: 'a type can have two implementations',
    cuts: [cut('engine/declare/type-registry.ts', 'if (known && known !== type)', 'if (known && known === null)')],
    breaks: ['4.04'],
  },
  {
    title: 'in-memory definitions are stored',
    cuts: [cut('engine/declare/job-def.ts', `inMemory: flagOf('inMemory', options.inMemory, false),`, 'inMemory: false,')],
    breaks: ['4.05', '4.06'],
  },
  {
    title: 'the last execution is always shown as completed',
    cuts: [cut('vocabulary/configuration.ts', ': words[ended.fate]', `: 'COMPLETED'`)],
    breaks: ['4.07'],
  },
  {
    title: 'leaderOnly is ignored',
    cuts: [cut('engine/declare/job-def.ts', `...(flagOf('leaderOnly', leaderOnly, false) ? { leaderOnly: true } : {})`, '')],
    breaks: ['4.08'],
  },
  {
    title: 'a tick creates two runs',
    cuts: [cut(
      'jobs/tick.ts', 'const newRuns = runs.map((run) =>\n    newRunOf({ def, spec, run, key, isFollowed: followed.isFollowed(run.id) }, now, asker, draftOfRun(changesOf(run))));',
      `const newRuns = runs.flatMap((run) => [
    newRunOf({ def, spec, run, key, isFollowed: followed.isFollowed(run.id) }, now, asker, draftOfRun(changesOf(run))),
    newRunOf({ def, spec, run: { ...run, id: run.id + 100_000 }, key: null, isFollowed: false }, now, asker, draftOfRun({}))]);`,
    )],
    breaks: ['4.09', '5.14', '5.22', '5.28'],
  },
  {
    title: 'parameters are lost',
    cuts: [cut('engine/declare/job-def.ts', 'const params = parseJson(jsonText(options.params ?? null));', 'const params = null;')],
    breaks: ['4.10 a definition'],
  },
  {
    title: 'no tick creates a run',
    cuts: [cut(
      'model/definition.ts',
      'ids.shift()!, schedule: index,',
      'ids.shift()!, schedule: null!,'), cut('model/definition.ts', 'runs.push(run);', '',
    )],
    breaks: ['1.05', '4.11', '4.12', '5.16 a program', '5.18', '5.25'],
  },
  {
    title: 'a changed definition keeps its old plan',
    cuts: [cut('jobs/define.ts', 'plan, due: dueOf(plan) };', 'plan: def.plan!, due: def.due };')],
    breaks: ['4.13'],
  },
  {
    title: 'overlap replace does not stop the open run',
    cuts: [cut(
      'jobs/overlap-keys.ts', `if (due.spec.overlap === 'replace') await`, `if (due.spec.overlap === 'queue') await`,
    )],
    breaks: ['4.14 with overlap'],
  },
  {
    title: 'a replaced run ends before its handler is told',
    cuts: [cut('jobs/overlap-keys.ts', 'cancelJob(store, id, act, replaceGraceMs)', 'stopJob(store, id, act)')],
    breaks: ['4.14 a replaced'],
  },
  {
    title: 'overlapping runs are allowed by default',
    cuts: [cut('engine/declare/job-def.ts', `options.overlap ?? 'skip'`, `options.overlap ?? 'allow'`)],
    breaks: ['4.14 without'],
  },
  {
    title: 'the next execution time is wrong',
    cuts: [cut('vocabulary/configuration.ts', '? def.due : null', '? def.due + 1 : null')],
    breaks: ['4.07', '4.13', '4.15'],
  },
  {
    title: 'a run by hand starts later',
    cuts: [cut(
      'engine/declare/run-request.ts',
      'return dueTime === undefined ? now :',
      'return dueTime === undefined ? now + 5_000 :',
    )],
    breaks: ['4.16'],
  },
  {
    title: 'a stop only asks a running job to end',
    cuts: [machine('held: endCancelled, running: endCancelled }', 'held: endCancelled, running: askToCancel }')],
    breaks: ['4.20', '4.22'],
  },
  {
    title: 'handlers are not told to stop',
    cuts: [cut('engine/attempt/attempt.ts', 'this.#abort?.abort(reason);', '')],
    breaks: ['4.14 with overlap', '4.21'],
  },
  {
    title: 'an isolated handler is not ended',
    cuts: [cut('engine/inspect/stop.ts', `? 'terminated' : 'disowned'`, `? 'disowned' : 'disowned'`)],
    breaks: ['4.22'],
  },
  {
    title: 'a stage goes on after a cancel',
    cuts: [cut('engine/progress/tracker.ts', 'if (this.isSkipCurrentStage) for', 'if (this.#isOver) for')],
    breaks: ['4.23', '4.24', '4.25'],
  },
  {
    title: 'a failure after a cancel counts',
    cuts: [machine(`if (job.cancel) return [endingOf(job.cancel, 'failed')];`, '')],
    breaks: ['4.26'],
  },
  {
    title: 'progress is not stored',
    cuts: [cut('engine/progress/tracker.ts', 'this.#onChange(this.#progress);', '')],
    breaks: ['4.27', '4.29', '4.32', '4.33', '4.38', '4.41'],
  },
  {
    title: 'a handler that reports no progress fails',
    cuts: [cut(
      'engine/progress/tracker.ts', 'if (this.isAborted) throw this.#failure;',
      `if (this.isAborted || this.progress.processes.length === 0) throw new Error('no progress');`,
    )],
    breaks: ['4.28'],
  },
  {
    title: 'stages run side by side',
    cuts: [progress(
      `endStage(withOpenProcess(progress, at), implicitSuccess('stage'), at)`,
      'withOpenProcess(progress, at)',
    )],
    breaks: ['4.30'],
  },
  {
    title: 'items are never processed in parallel',
    cuts: [cut('engine/progress/tracker.ts', 'parallelism: parallelismOf(plan.parallelism)', 'parallelism: 1')],
    breaks: ['4.31'],
  },
  {
    title: 'a stage has no total',
    cuts: [progress('total: wholeOrNull(step.total),', 'total: null,')],
    breaks: ['4.33', '4.43'],
  },
  {
    title: 'failed nodes are successful',
    cuts: [progress(
      `return { status: 'ERROR', summary: null, error: cut(error) };`,
      `return { status: 'SUCCESS', summary: null, error: cut(error) };`,
    )],
    breaks: ['4.34', '4.35', '4.40'],
  },
  {
    title: 'the process of a cancelled job stays RUNNING',
    cuts: [progress(`isOpen(process) ? { ...process, status: 'CANCELLED', cancelledAt: at } : process,`, 'process,')],
    breaks: ['4.36', '4.37'],
  },
  {
    title: 'summaries are lost',
    cuts: [cut('model/progress-nodes.ts', 'summary: ending.summary,', 'summary: null,')],
    breaks: ['4.38'],
  },
  {
    title: 'an item that was never started is dropped',
    cuts: [progress(`return startItem(progress, { kind: 'startItem', item }, at);`, 'return progress;')],
    breaks: ['4.39'],
  },
  {
    title: 'only the newest process is kept',
    cuts: [progress('[...closed.processes, begun]', '[begun]')],
    breaks: ['4.30', '4.41'],
  },
  {
    title: 'items are not counted',
    cuts: [cut(
      'engine/progress/tracker.ts',
      'tally[await this.#runItem(plan, item, index)] += 1;',
      'await this.#runItem(plan, item, index);',
    )],
    breaks: ['4.42'],
  },
  {
    title: 'items lose their description',
    cuts: [cut('engine/progress/tracker.ts', 'textOf(describe(item, index)) ??', 'null ??')],
    breaks: ['4.25', '4.43'],
  },
  {
    title: 'a write under another fence is accepted',
    cuts: [noFence],
    breaks: ['5.03', '5.09', '5.26'],
  },
  {
    title: 'a decision is not made again',
    cuts: [cut('apply.ts', 'if (tries === triesMax) throw contended(idOf', 'if (tries === 1) throw contended(idOf')],
    breaks: ['5.04'],
  },
  {
    title: 'a row is written whatever its version',
    cuts: [
      cut('store/sqlite/write/bulk-update.ts', '} WHERE version = ? AND', '} WHERE ? > 0 AND'),
      cut('store/postgres/write/single-row.ts', ' and job.version = ${', ' and 0 < ${'),
    ],
    breaks: ['5.06'],
  },
  {
    title: 'an engine uses the clock of its machine',
    cuts: [cut('engine/run-creation.ts', 'const now = database.now();', 'const now = Date.now();')],
    breaks: ['5.08 the clocks'],
  },
  {
    title: 'a new connection does not read the clock of the server',
    cuts: [cut('store/postgres/sql/database.ts', 'this.time.observe(rows[0]!.now);', '')],
    breaks: ['5.08 the first run'],
    isInProcesses: true,
  },
  {
    title: 'statements use the clock of the machine',
    cuts: [cut(
      'store/postgres/sql/server-clock.ts',
      'this.#testClock.now() : null;',
      'this.#testClock.now() : systemClock.now();',
    )],
    breaks: ['5.08 an instance'],
    isInProcesses: true,
  },
  {
    title: 'tasks of a cancelled run are handed out',
    cuts: [cut('apply.ts', 'until, parentCancelled, ', 'until, parentCancelled: parentCancelled && false, ')],
    breaks: ['5.09'],
  },
  {
    title: 'the lock names another transition',
    cuts: [cut(
      'vocabulary/scheduled.ts',
      `if (job.kind !== 'def') return job.phase;`,
      `if (job.kind !== 'def') return 'run';`,
    )],
    breaks: ['5.11'],
  },
  {
    title: 'repair records another phase',
    cuts: [machine('phase: job.phase, ...timesAfterCrash', `phase: 'gather', ...timesAfterCrash`)],
    breaks: ['5.12'],
  },
  {
    title: 'a released job keeps its transition',
    cuts: [cut(
      'vocabulary/scheduled.ts', `job.state === 'running' ? {`,
      `job.state === 'pending' && job.fence > 0
        ? { owner: null, expires: null, state: 'run' } : job.state === 'running' ? {`,
    )],
    breaks: ['5.13'],
  },
  {
    title: 'an ended job can be paused',
    cuts: [machine('pause: { pending: pause },', 'pause: { pending: pause, ended: () => [] },')],
    breaks: ['5.15'],
  },
  {
    title: 'the command line creates runs of another type',
    cuts: [cut(
      'cli/commands/runs.ts',
      'body: { type, ...runRequestOf(options) }',
      `body: { type: 'other', ...runRequestOf(options) }`,
    )],
    breaks: ['5.16 the command line'],
    isInProcesses: true,
  },
  {
    title: 'a definition is created in two writes',
    cuts: [cut(
      'jobs/define.ts', 'addLinked(store, () => newDefinition(id!, declaration, { by, now: store.now() }), by);',
      `addLinked(store, () => newDefinition(id!, { ...declaration, enabled: false }, { by, now: store.now() }), by);
  if (isWritten && declaration.enabled) await enable(store, declaration.name, { by });`,
    )],
    breaks: ['5.17', '5.21'],
  },
  {
    title: 'a definition is created with a lock',
    cuts: [cut(
      'model/evolve.ts', `: { ...created, state: 'pending' };`,
      `: job.kind === 'def' ? { ...created, state: 'running', lease: { holder: e.by, until: null } }
        : { ...created, state: 'pending' };`,
    )],
    breaks: ['5.17', '5.19'],
  },
  {
    title: 'planned tasks are visible before their run waits for them',
    cuts: [cut(
      'engine/attempt/phases.ts',
      'jobs.store.stageChildren(this.#run.id, this.#fence, tasks);',
      'jobs.store.commit({ changes: tasks });',
    )],
    breaks: ['5.20'],
  },
  {
    title: 'due jobs are found by polling only',
    cuts: [cut('engine/loops/claimer.ts', 'this.#untilNextDue(searchedAt) : 0;', '5_000 : 0;')],
    breaks: ['5.23'],
  },
  {
    title: 'a run that prepares counts as started',
    cuts: [cut('vocabulary/scheduled.ts', `preparing: 'starting',`, `preparing: 'started',`)],
    breaks: ['5.24'],
  },
  {
    title: 'a claim that finds nothing is reported',
    cuts: [cut(
      'engine/loops/claimer.ts', 'this.#start(claimed.jobs);',
      `if (claimed.jobs.length === 0) throw new Error('the lock was not obtained'); this.#start(claimed.jobs);`,
    )],
    breaks: ['5.28'],
  },
  {
    title: 'a start enables what an operator disabled',
    cuts: [cut(
      'jobs/define.ts', 'const stored = await definitionsNamed(store, declarations.map(({ name }) => name));',
      `const stored = await definitionsNamed(store, declarations.map(({ name }) => name));
  for (const { name } of declarations) await enable(store, name, { by: 'code' }).catch(() => {});`,
    )],
    breaks: ['5.30'],
  },
  {
    title: 'a job that becomes due during a claim waits for a poll',
    cuts: [cut('engine/loops/claimer.ts', 'names: this.#names(types) }, searchedAt);', 'names: this.#names(types) });')],
    breaks: ['a run that becomes due before the answer to a claim arrives'],
    file: 'test/engine/late-answers.test.ts',
  },
  {
    title: 'a connection whose peer is gone is not noticed',
    cuts: [cut('store/postgres/sql/peer-watch.ts', 'return this.#quietMs(watched) >= watched.probeAfterMs;', 'return false;')],
    breaks: ['a create is written once when the connection swallows', 'a claim whose answer is swallowed is confirmed'],
    file: 'test/store/postgres/dead-peers.test.ts',
  },
  {
    title: 'an open transaction of another database holds back the feed',
    cuts: [cut(
      'store/postgres/read/history.ts',
      'other.backend_xid = open.xid::xid and other.datname <> current_database()',
      'other.backend_xid = open.xid::xid and false',
    )],
    breaks: ['a transaction that is open in another database'],
    file: 'test/store/postgres/feed.test.ts',
  },
];
