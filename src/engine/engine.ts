/** The engine: the object in a program that creates, executes and reads jobs. It composes its parts and delegates. */
import type { EndedJobs } from './attempt/attempt-counts.ts';
import type { Jobs } from '../jobs.ts';
import type { Created } from '../jobs/create.ts';
import type { SavedView } from '../jobs/saved-views.ts';
import type { DeployedDef } from '../jobs/tick-knowledge.ts';
import type { Event } from '../model/event.ts';
import type { Limits } from '../model/gate.ts';
import type { Job } from '../model/job.ts';
import type { LimitUse } from '../model/limit.ts';
import type { OutputChunk } from '../model/output.ts';
import type { Pause } from '../model/pause.ts';
import type { SavedViewPage } from '../model/saved-view.ts';
import type { EndedStep } from '../model/step.ts';
import type { TypeEntry } from '../model/type-entry.ts';
import { Refusal } from '../refusal.ts';
import type { Page, PageRequest, Query, Tally } from '../store/query.ts';
import {
  isLive, type DueJob, type FeedPage, type InboxCounts, type InboxQuery, type InboxRequest, type Instance, type LogLine,
} from '../store/store.ts';
import { durationMs, formatDuration, type Duration } from '../time/duration.ts';
import { Loop } from '../time/loop.ts';
import type { Configuration } from '../vocabulary/configuration.ts';
import type { JobRunStats } from '../vocabulary/jobrun.ts';
import type { StageInfo } from '../vocabulary/stage.ts';
import { AlertActions, type AlertStatus, type SentAlerts } from './alert-actions.ts';
import { AuditTrail } from './audit-trail.ts';
import { Declarations } from './declarations.ts';
import type { AlertOptions, JobAlert } from './declare/alert.ts';
import type { DefChanges } from './declare/def-changes.ts';
import type { DefDocument } from './declare/def-document.ts';
import type { DefFilter } from './declare/def-filter.ts';
import type { DefPlan, PlanOptions } from './declare/def-plan.ts';
import type { DefOptions, JobDef } from './declare/job-def.ts';
import type { JobType } from './declare/job-type.ts';
import type { RequestOf, ResultOf, Runnable, RunRequest } from './declare/run-request.ts';
import type { BackfillOutcome } from './backfill.ts';
import { BackfillActions, type BackfillOptions, type PlannedBackfill } from './backfill-actions.ts';
import { DefinitionActions, type NamedRunnable, type OwnRunnable } from './definition-actions.ts';
import { DefinitionDocuments, type ApplyOptions, type ExportOptions } from './definition-documents.ts';
import type { Reason } from './inspect/reason.ts';
import type { Failures, FailuresRequest } from './inspect/failures.ts';
import type { FlowGraph } from './inspect/flow-graph.ts';
import type { FlowPage, FlowSummary } from './inspect/flows.ts';
import type { LimitInUse } from './inspect/limits-in-use.ts';
import type { ShareInUse } from './inspect/shares-in-use.ts';
import type { ListedTicks, TickListRequest } from './inspect/past-ticks.ts';
import type { Calendar, CalendarRequest } from './inspect/calendar.ts';
import type { PreviewedTick } from './inspect/schedule-preview.ts';
import type { StopAnswer } from './inspect/stop.ts';
import { instanceCommandDraft, type InstanceCommand } from './declare/instance-command.ts';
import { FlowCreation, type BuildFlow, type FlowKey, type NamedFlowIds } from './flow-creation.ts';
import type { NamedFlow } from './declare/named-flow.ts';
import { AnswerActions, type OpenQuestion, type OpenQuestions, type OpenQuestionsRequest } from './answer-actions.ts';
import type { FlowHandle } from './flow-handle.ts';
import { InboxActions } from './inbox-actions.ts';
import { InboxRuns } from './inbox-runs.ts';
import { LimitActions, type LimitOverride, type LimitPauseOptions, type LimitResumeOptions, type LimitStatus, type ReopenOptions } from './limit-actions.ts';
import { PauseActions, type PauseOptions, type ResumeOptions } from './pause-actions.ts';
import { checkVersions } from '../jobs/checks/claim.ts';
import { versionsOf, type TypeVersions } from '../model/type-version.ts';
import type { DraftChild } from './attempt/child-runs.ts';
import { undeclaredDefNames, mayOthersAccept } from './living-builds.ts';
import type { OutputRequest } from './inspect/output.ts';
import { EngineReads, type EngineEvent, type ListedDefinition, type PreviewRequest } from './reads.ts';
import { RunActions, type RunEdit } from './run-actions.ts';
import { RunCreation } from './run-creation.ts';
import { RunImport, type ImportOutcome, type ImportRequest } from './run-import.ts';
import {
  RunHandle, type ActOptions, type AnswerOptions, type CancelOptions, type EndOptions, type LogRequest, type RetryOptions, type RunBackend,
  type RunMaker, type Snapshot, type StepsRequest,
} from './run-handle.ts';
import { SavedViewActions, type ViewRequest } from './saved-view-actions.ts';
import { Stores } from './stores.ts';
import { TransactionRuns } from './transaction-runs.ts';
import { TypeCatalogue } from './type-catalogue.ts';
import type { JobWatch } from './attempt/job-watchers.ts';
import { StoreWorkers, type StoreWorkersParts } from './store-workers.ts';

export { firstMemoryId } from './stores.ts';

export interface EngineParts extends Omit<StoreWorkersParts, 'typesOf' | 'mayOthersAccept' | 'draftChildren' | 'undeclaredOf'> {
  readonly defs: readonly JobDef[];
  readonly alerts: readonly JobAlert[];
  readonly build: string;
  readonly undeclaredDefs: 'tick' | 'stop';
}

/** Lookups for the workers: whether other living code may accept the input of a job, and which definitions no living build declares. */
function buildKnowledge({ jobs: { store }, build, registry, undeclaredDefs }: EngineParts) {
  return {
    mayOthersAccept: (job: Job) =>
      mayOthersAccept(store, { build, version: versionsOf(registry.versions, job.type).to }, job),
    undeclaredOf: undeclaredDefs === 'stop'
      ? (defs: readonly DeployedDef[]) => undeclaredDefNames(store, defs) : () => Promise.resolve(new Set<string>()),
  };
}

const closePatience: Duration = '30s';

export class EngineCore implements RunBackend, RunMaker {
  readonly instance: string;
  readonly jobs: Jobs;
  protected readonly stores: Stores;
  readonly #parts: EngineParts;
  readonly #reads: EngineReads;
  readonly #audit: AuditTrail;
  readonly #workers: StoreWorkers;
  readonly #definitions: DefinitionActions;
  readonly #documents: DefinitionDocuments;
  readonly #backfills: BackfillActions;
  readonly #declarations: Declarations;
  readonly #declaring: Loop;
  readonly #creation: RunCreation;
  readonly #import: RunImport;
  readonly #flows: FlowCreation;
  readonly #actions: RunActions;
  readonly #answers: AnswerActions;
  readonly #inbox: InboxActions;
  readonly #limits: LimitActions;
  readonly #alerts: AlertActions;
  readonly #pauses: PauseActions;
  readonly #views: SavedViewActions;
  #ready: Promise<void> | null = null;

  constructor(parts: EngineParts) {
    const { jobs, memory, instance } = parts;
    const stores = new Stores(jobs, memory);
    const audit = new AuditTrail(stores, instance);
    const catalogue = new TypeCatalogue({ ...parts, stores });
    const draftChildren = (): DraftChild => {
      const draft = this.#creation.drafting(instance);
      return (type, request) => draft(type, request, false);
    };
    const typesOf = (names: readonly string[]): ReturnType<TypeCatalogue['entries']> => catalogue.entries(names);
    const knowledge = { typesOf, draftChildren, ...buildKnowledge(parts) };
    const inboxRuns = new InboxRuns({ ...parts, stores, catalogue, encodes: parts.hidesErrors });
    const workers = new StoreWorkers({ ...parts, ...knowledge }, (command) =>
      (command === 'drain' ? this.suspend() : this.resume()), () => inboxRuns.takePage());
    const definitions = new DefinitionActions({ ...parts, stores, workers, audit, catalogue });
    this.instance = instance;
    this.jobs = jobs;
    this.stores = stores;
    this.#parts = parts;
    this.#reads = new EngineReads({ ...parts, stores, catalogue });
    this.#audit = audit;
    this.#workers = workers;
    this.#definitions = definitions;
    this.#documents = new DefinitionDocuments({ stores, workers, audit, catalogue, reads: this.#reads });
    this.#alerts = new AlertActions(stores, audit, workers);
    this.#declarations = new Declarations({ ...parts, stores, definitions, alertActions: this.#alerts });
    this.#declaring = new Loop('declarations', parts, () => this.#declarations.turn());
    this.#creation = new RunCreation({ ...parts, stores, workers, definitions });
    this.#import = new RunImport({ stores, workers, definitions });
    this.#backfills = new BackfillActions({ stores, creation: this.#creation, audit });
    this.#flows = new FlowCreation({ creation: this.#creation, stores, workers, instance });
    this.#actions = new RunActions({ ...parts, stores, workers, audit, catalogue });
    this.#answers = new AnswerActions({ stores, workers, audit, clock: parts.clock });
    this.#inbox = new InboxActions(stores, audit);
    this.#limits = new LimitActions(stores, audit, workers);
    this.#pauses = new PauseActions(stores, audit, catalogue);
    this.#views = new SavedViewActions(stores, audit);
  }

  // Lifecycle.

  /** Migrates the schema, declares the types and definitions, and starts to claim jobs. */
  async resume(): Promise<void> {
    this.#parts.isolation.requireEntry(this.#parts.registry.isolated);
    await this.ready();
    await this.#declarations.declare();
    this.#logRetention();
    await this.#workers.resume();
    await this.#declarations.declareLimits();
    this.#declaring.start();
  }

  /** Stops claiming. Running handlers continue; `resume` claims again. */
  async suspend(): Promise<void> {
    await Promise.all([this.#workers.suspend(), this.#declaring.stop()]);
  }

  /**
   * After `resume`: resolves when this instance executes nothing, and nothing that is due can start here, nor a message of an
   * alert. A batch does not wait for further jobs when none can be claimed. Runs that are due later, paused, or at a full
   * limit stay, and so do those of types that this engine lacks. The result says how many jobs have ended here since the
   * start: with success, and for good without.
   */
  whenIdle(): Promise<EndedJobs> {
    return this.#workers.whenIdle();
  }

  /** The ids of the jobs that this instance executes now. */
  get running(): readonly number[] {
    return this.#workers.running;
  }

  /**
   * Stops claiming and waits up to `patience` (default: 30s) for running handlers. Then interrupts the remaining ones
   * and releases their jobs; the interrupted attempts do not count. Closes the store.
   */
  async close({ patience = closePatience }: { readonly patience?: Duration } = {}): Promise<void> {
    await Promise.all([this.#workers.close(durationMs(patience)), this.#declaring.stop()]);
    await this.#parts.isolation.close();
    await this.jobs.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Migrates the schema once; resolves when the schema is up to date. After a failure, the next call tries again. */
  ready(): Promise<void> {
    this.#ready ??= Promise.all([this.jobs.store.migrate(), this.#parts.tracing.load()]).then(
      () => {},
      (error: unknown) => {
        this.#ready = null;
        throw error;
      },
    );
    return this.#ready;
  }

  /** Commands a running instance to drain or to resume. Returns the id of the run that carries the command. */
  async order(instance: string, order: InstanceCommand, act?: ActOptions): Promise<number> {
    const known = (await this.instances()).find(({ id }) => id === instance);
    if (known === undefined || !isLive(known, this.now()) || known.about.pid === 0) {
      throw new Refusal('unknown.instance', `there is no running instance ${instance} to command`, { instance });
    }
    const asker = this.#audit.asker(act);
    const { id } = await this.jobs.create(instanceCommandDraft(instance, order), asker.by);
    await this.jobs.audit({ action: order, job: id, def: null, before: null, after: { instance } }, asker);
    this.#workers.checkCommands();
    return id;
  }

  // Runs.

  async createJobRun<What extends Runnable>(
    what: What,
    ...[request]: RequestOf<What>
  ): Promise<RunHandle<ResultOf<What>>> {
    return (await this.createJobRuns<unknown, ResultOf<What>>(what, [request ?? {}]))[0]!;
  }

  async createJobRuns<Input, Result>(
    what: JobDef<Input, Result> | JobType<Input, Result>,
    requests: readonly RunRequest<NoInfer<Input>>[],
  ): Promise<readonly RunHandle<Result>[]> {
    await this.ready();
    const created = await this.#creation.create(what, requests, this.instance);
    return created.map((run) => this.#handle<Result>(run));
  }

  /**
   * Creates runs that follow each other, in one commit. `build` adds them; a run starts when the runs that it follows
   * have ended, and can have their results in its input.
   */
  async createFlow(build: BuildFlow): Promise<FlowHandle> {
    await this.ready();
    return this.#flows.create(build, this);
  }

  /**
   * Creates a flow that is given as data, with names for its runs; returns their ids. With `unique`, a flow with the same
   * key is created once; a second call returns the ids of the first.
   */
  async createNamedFlow(flow: NamedFlow, by = this.instance, unique: FlowKey | null = null): Promise<NamedFlowIds> {
    await this.ready();
    return this.#flows.createNamed(flow, this, by, unique);
  }

  /** Flows, newest first, with counts of their runs. */
  flows(page?: { readonly before?: number; readonly limit?: number }): Promise<readonly FlowSummary[]> {
    return this.#reads.flows(page);
  }

  /** The runs of a flow, in the order of their ids, with what each of them follows. */
  flow(id: number, page?: { readonly after?: number; readonly limit?: number }): Promise<FlowPage> {
    return this.#reads.flow(id, page);
  }

  /** The runs of a flow in layers, with the edges between them; the runs of a large flow in groups. */
  flowGraph(id: number): Promise<FlowGraph> {
    return this.#reads.flowGraph(id);
  }

  /** The flow of a run; null: it belongs to none. */
  flowOf(run: Job): Promise<number | null> {
    return this.#reads.flowOf(run);
  }

  /** Cancels the open runs of a flow; returns how many. */
  cancelFlow(id: number, options?: CancelOptions): Promise<number> {
    return this.#actions.cancelFlow(id, options);
  }

  stopFlow(id: number, act?: EndOptions): Promise<number> {
    return this.#actions.stopFlow(id, act);
  }

  /** Retries the runs of a flow that failed or were cancelled by hand; returns how many. */
  retryFlow(id: number, act?: ActOptions): Promise<number> {
    return this.#actions.retryFlow(id, act);
  }

  /** Creates a run of a type or definition that the caller knows by name only. */
  async createNamed(
    what: NamedRunnable | OwnRunnable,
    request: RunRequest<unknown>,
    by = this.instance,
  ): Promise<RunHandle> {
    await this.ready();
    const created = await this.#creation.create(what, [request], by);
    return this.#handle(created[0]!);
  }

  /**
   * Creates runs of a type for jobs of another system, each once: the `unique` of a request names its job. Answers each
   * request by itself; a refused one does not prevent the others. With `dryRun`, nothing is stored.
   */
  async importJobRuns(
    type: string,
    requests: readonly ImportRequest[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
    by = this.instance,
  ): Promise<readonly ImportOutcome[]> {
    await this.ready();
    return this.#import.create(type, requests, dryRun, by);
  }

  /**
   * Returns operations on runs in the caller's transaction: they take effect if and when the transaction commits.
   * `transaction` is an open transaction of one of the libraries in docs/guides/transactions.md.
   */
  in(transaction: unknown): TransactionRuns {
    return new TransactionRuns(transaction, {
      creation: this.#creation, flows: this.#flows, actions: this.#actions, backend: this,
    });
  }

  run<Result = unknown>(id: number): RunHandle<Result> {
    return new RunHandle<Result>(this, id);
  }

  cancelJobRun(id: number, options?: CancelOptions): Promise<Job> {
    return this.#actions.cancel(id, options);
  }

  stopJobRun(id: number, act?: EndOptions): Promise<StopAnswer> {
    return this.#actions.stop(id, act);
  }

  retryJobRun(id: number, options?: RetryOptions): Promise<Job> {
    return this.#actions.retry(id, options);
  }

  deleteJobRun(id: number, act?: ActOptions): Promise<void> {
    return this.#actions.delete(id, act);
  }

  editJobRun(id: number, edit: RunEdit, act?: ActOptions): Promise<Job> {
    return this.#actions.edit(id, edit, act);
  }

  pauseJobRun(id: number, act?: ActOptions): Promise<Job> {
    return this.#actions.pause(id, act);
  }

  resumeJobRun(id: number, act?: ActOptions): Promise<Job> {
    return this.#actions.resume(id, act);
  }

  /** Completes a job that its handler handed off: the job succeeds with `result`. */
  complete(token: string, result?: unknown): Promise<Job> {
    return this.#actions.complete(token, result);
  }

  /** Fails a job that its handler handed off. */
  fail(token: string, error: unknown): Promise<Job> {
    return this.#actions.fail(token, error);
  }

  /** Like `complete`, but without the token: an operator acts for the system that has the token. */
  completeJobRun(id: number, result?: unknown, act?: ActOptions): Promise<Job> {
    return this.#actions.completeHandedOff(id, result, act);
  }

  failJobRun(id: number, error: unknown, act?: ActOptions): Promise<Job> {
    return this.#actions.failHandedOff(id, error, act);
  }

  // Questions of handlers that wait.

  /**
   * Answers a question of `waitFor`; the run continues at once. The first answer counts. An answer before the question is
   * stored, and checked when the handler asks.
   */
  answer(id: number, name: string, value: unknown, options?: AnswerOptions): Promise<Job> {
    return this.#answers.answer(id, name, value, options);
  }

  /** Answers a question with the token that its handler got in `notify`. */
  answerByToken(token: string, value: unknown): Promise<Job> {
    return this.#answers.answerByToken(token, value);
  }

  /** Returns the question that a token answers. */
  questionOf(token: string): Promise<OpenQuestion> {
    return this.#answers.questionOf(token);
  }

  /** Returns the questions that wait for an answer, oldest run first; without in-memory runs. */
  openQuestions(request?: OpenQuestionsRequest): Promise<OpenQuestions> {
    return this.#answers.open(request);
  }

  // The inbox.

  /** Requests that programs have written in SQL and that have not become runs, in the order of their ids. */
  inboxRequests(query?: Partial<InboxQuery>): Promise<readonly InboxRequest[]> {
    return this.#inbox.find(query);
  }

  countInbox(): Promise<InboxCounts> {
    return this.#inbox.count();
  }

  /** Lets an instance check a refused request again. */
  retryInboxRequest(id: number, act?: ActOptions): Promise<void> {
    return this.#inbox.retry(id, act);
  }

  /** Deletes a request of the inbox without creating its run. */
  removeInboxRequest(id: number, act?: ActOptions): Promise<void> {
    return this.#inbox.remove(id, act);
  }

  // Named limits.

  /** All named limits with their use, in the order of their names. */
  async limits(): Promise<readonly LimitStatus[]> {
    await this.ready();
    return this.#limits.list();
  }

  /** A named limit with the use of up to 100 of its keys. */
  async limit(name: string): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.show(name);
  }

  /**
   * Overrides the values of a named limit, on all instances from the next claim on. The override replaces the one
   * before and survives deploys. A value that is left out comes from the code; null means not limited. Null for
   * `override` removes it.
   */
  async overrideLimit(name: string, override: LimitOverride | null, act?: ActOptions): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.override(name, override, act);
  }

  /**
   * Lets jobs start again at a named limit that a handler has closed or that is overspent: forgets until when it is
   * closed, and what is used of its rate, so that as many jobs as its burst may start at once.
   */
  async reopenLimit(name: string, options: ReopenOptions): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.reopen(name, options);
  }

  /**
   * Creates a named limit that no code declares, for job types that list it as `limit('name')`. With `isKeyed`, each key
   * has the values for itself. Refused if the name is in use.
   */
  async defineLimit(
    name: string,
    values: LimitOverride & { readonly isKeyed?: boolean },
    act?: ActOptions,
  ): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.define(name, values, act);
  }

  /** Pauses a named limit: after the answer, no job that uses it starts on any instance; running jobs continue. */
  async pauseLimit(name: string, options: LimitPauseOptions): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.pause(name, options);
  }

  /** Ends the pause of a named limit, or the spread of its resume. */
  async resumeLimit(name: string, options: LimitResumeOptions): Promise<LimitStatus> {
    await this.ready();
    return this.#limits.resume(name, options);
  }

  /**
   * Deletes a named limit that no code declares. Jobs that use its name are not limited by it any more, from the next
   * claim on. Refused for a limit that code declares: override its values instead.
   */
  async deleteLimit(name: string, act?: ActOptions): Promise<void> {
    await this.ready();
    return this.#limits.delete(name, act);
  }

  // Alerts.

  /** All alerts with their state, in the order of their names. */
  async alerts(): Promise<readonly AlertStatus[]> {
    await this.ready();
    return this.#alerts.list();
  }

  async alert(name: string): Promise<AlertStatus> {
    await this.ready();
    return this.#alerts.show(name);
  }

  /** Creates an alert that no code declares. Refused if the name is in use. */
  async defineAlert(name: string, options: AlertOptions, act?: ActOptions): Promise<AlertStatus> {
    await this.ready();
    return this.#alerts.define(name, options, act);
  }

  /**
   * Changes settings of an alert; those that are left out stay. The changes survive deploys. Null removes the changes of
   * operators to an alert that code declares.
   */
  async editAlert(name: string, changes: Partial<AlertOptions> | null, act?: ActOptions): Promise<AlertStatus> {
    await this.ready();
    return this.#alerts.edit(name, changes, act);
  }

  /** Deletes an alert. If the code of an engine declares it, the next start creates it again. */
  async deleteAlert(name: string, act?: ActOptions): Promise<void> {
    await this.ready();
    return this.#alerts.delete(name, act);
  }

  /** Sends a test message to the target of an alert; returns the id of the run that sends it, which is tried once. */
  async testAlert(name: string, act?: ActOptions): Promise<number> {
    await this.ready();
    return this.#alerts.test(name, act);
  }

  /** The messages of an alert, newest first: those that were sent, and those that are to be sent. */
  async sentAlerts(name: string, page?: PageRequest): Promise<SentAlerts> {
    await this.ready();
    return this.#alerts.sent(name, page);
  }

  // Saved views of the dashboard.

  /** The saved views, in the order of their names; with `page`, those of one list page. There are at most 200. */
  async savedViews(page?: SavedViewPage): Promise<readonly SavedView[]> {
    await this.ready();
    return this.#views.list(page);
  }

  async savedView(name: string): Promise<SavedView> {
    await this.ready();
    return this.#views.show(name);
  }

  /** Saves the query of a list page under a name, for everybody who may read. */
  async saveView(name: string, request: ViewRequest, act?: ActOptions): Promise<SavedView> {
    await this.ready();
    return this.#views.save(name, request, act);
  }

  /** Gives a saved view another name. Refused if that is in use. */
  async renameView(name: string, renamed: string, act?: ActOptions): Promise<SavedView> {
    await this.ready();
    return this.#views.rename(name, renamed, act);
  }

  async deleteView(name: string, act?: ActOptions): Promise<void> {
    await this.ready();
    return this.#views.delete(name, act);
  }

  // Pauses.

  /**
   * Pauses a job type, or one key of it: no instance claims its jobs until the pause ends. After this has been answered,
   * no attempt starts. Attempts that are running go on. A type that nobody has registered yet can be paused, too.
   */
  async pauseType(type: string, options: PauseOptions): Promise<Pause> {
    await this.ready();
    return this.#pauses.pause(type, options);
  }

  /** Ends the pause of a type, or of one key of it, or the spread of its resume. A paused key of a paused type stays paused. */
  async resumeType(type: string, options: ResumeOptions = {}): Promise<void> {
    await this.ready();
    return this.#pauses.resume(type, options);
  }

  /** The pauses in force, ordered by type and key, and those whose resume is spread. */
  async pauses(): Promise<readonly Pause[]> {
    await this.ready();
    return this.#pauses.all();
  }

  // Definitions.

  /** Creates a definition that no code declares. Refused if the name is in use. */
  define(name: string, type: string, options: DefOptions<unknown>, act?: ActOptions): Promise<void> {
    return this.#definitions.define(name, type, options, act);
  }

  /** Ends a definition; its runs stay. If the code of an engine declares the definition, `resume` creates it again. */
  undefine(name: string, act?: ActOptions): Promise<void> {
    return this.#definitions.undefine(name, act);
  }

  enable(name: string, act?: ActOptions): Promise<void> {
    return this.#definitions.enable(name, act);
  }

  disable(name: string, act?: ActOptions): Promise<void> {
    return this.#definitions.disable(name, act);
  }

  /**
   * Overrides settings of a definition, with the options of `jobDef`. The changes are merged into the existing
   * override, which survives deploys. A null value removes the override of its setting, except `params: null`, which
   * makes null the input of the runs. Null for `changes` removes the whole override.
   */
  override(name: string, changes: DefChanges | null, act?: ActOptions): Promise<void> {
    return this.#definitions.override(name, changes, act);
  }

  /**
   * Exports definitions as data, in the words of `jobDef`: those that no code declares as a whole, and of those that
   * code declares only what operators have changed.
   */
  exportDefinitions(options: ExportOptions = {}): Promise<DefDocument> {
    return this.#documents.export(options);
  }

  /** Returns what `applyDefinitions` would change. Refuses an invalid document. */
  planDefinitions(document: DefDocument, options: PlanOptions = {}): Promise<DefPlan> {
    return this.#documents.plan(document, options);
  }

  /**
   * Creates, changes and, with `prune`, deletes definitions as the document says, all in one commit or none. Refuses
   * `stale.plan` if somebody else changes one of the definitions meanwhile, or since the plan of `digest` was made.
   */
  applyDefinitions(document: DefDocument, options: ApplyOptions = {}, act: ActOptions = {}): Promise<DefPlan> {
    return this.#documents.apply(document, options, act);
  }

  /** Creates a definition with the settings of another one. By default it is enabled if that one is. */
  cloneDefinition(
    name: string,
    clone: string,
    { enabled }: { readonly enabled?: boolean } = {},
    act: ActOptions = {},
  ): Promise<void> {
    return this.#documents.clone(name, clone, enabled, act);
  }

  /** Gives a definition that no code declares another name. Its runs keep the old name. */
  renameDefinition(name: string, renamed: string, act: ActOptions = {}): Promise<void> {
    return this.#documents.rename(name, renamed, act);
  }

  /**
   * Enables or disables all matching definitions in one commit. Returns the names of those that change; with `dryRun`,
   * of those that would.
   */
  switchDefinitions(
    filter: DefFilter,
    enabled: boolean,
    { dryRun = false }: { readonly dryRun?: boolean } = {},
    act: ActOptions = {},
  ): Promise<readonly string[]> {
    return this.#documents.switch(filter, enabled, dryRun, act);
  }

  /**
   * Returns the ticks of a definition from `from` to before `to`, newest first: each with its run, the reason why it was
   * skipped, or neither. Default: the last 24 hours.
   */
  async ticks(name: string, request?: TickListRequest): Promise<ListedTicks> {
    await this.ready();
    return this.#reads.ticks(name, request);
  }

  /** How many ticks all enabled definitions have in each hour, and which of them have the most. */
  async calendar(request?: CalendarRequest): Promise<Calendar> {
    await this.ready();
    return this.#reads.calendar(request);
  }

  /** Returns how many runs `backfill` would create now. Refuses what it refuses. */
  async planBackfill(name: string, options: BackfillOptions): Promise<PlannedBackfill> {
    await this.ready();
    return this.#backfills.plan(name, options);
  }

  /**
   * Creates runs for the past ticks of a definition that have none, from `from` to before `to`. A run of a built-in type
   * creates them, with at most `concurrency` open at a time; returns its handle. A tick never gets two runs.
   */
  async backfill(name: string, options: BackfillOptions, act?: ActOptions): Promise<RunHandle<BackfillOutcome>> {
    await this.ready();
    return this.#handle(await this.#backfills.start(name, options, act));
  }

  /** Lists definitions. */
  definitions(filter?: DefFilter): Promise<readonly ListedDefinition[]> {
    return this.#reads.definitions(filter);
  }

  /** Like `definitions`, in the order of their ids from the first one after the id `after`; reads only as many as are taken. */
  eachDefinition(filter?: DefFilter, after?: number): AsyncGenerator<ListedDefinition, void, undefined> {
    return this.#reads.eachDefinition(filter, after);
  }

  definition(name: string): Promise<ListedDefinition> {
    return this.#reads.definition(name);
  }

  /** The status of a definition, its last execution and its next one (seed 4 of docs/seeds.md). */
  configuration(def: string | Pick<ListedDefinition, 'job'>): Promise<Configuration> {
    return this.#reads.configuration(def);
  }

  /** Like `configuration`, of many definitions, in their order. Costs about as much as one. */
  configurations(defs: readonly Pick<ListedDefinition, 'job'>[]): Promise<readonly Configuration[]> {
    return this.#reads.configurations(defs);
  }

  /** The next ticks of a definition, with the effect of its overlap policy and of daylight saving on each. */
  preview(name: string, request?: PreviewRequest): Promise<readonly PreviewedTick[]> {
    return this.#reads.preview(name, request);
  }

  // Reads of one run or task.

  get(id: number): Promise<Job> {
    return this.#reads.get(id);
  }

  /** Like `get`, but also returns definitions, audit entries, types of the catalogue and builds. */
  record(id: number): Promise<Job> {
    return this.#reads.record(id);
  }

  snapshot(id: number): Promise<Snapshot> {
    return this.#reads.snapshot(id);
  }

  /** The events of a job from number `from` on. */
  history(id: number, from?: number, limit?: number): Promise<readonly Event[]> {
    return this.#reads.history(id, from, limit);
  }

  /** Returns the finished steps of a run or task and its sleeps, in the order in which they were stored. */
  steps(id: number, request?: StepsRequest): Promise<readonly EndedStep[]> {
    return this.#reads.steps(id, request);
  }

  log(id: number, request?: LogRequest): Promise<readonly LogLine[]> {
    return this.#reads.log(id, request);
  }

  /** Returns a page of the output of a run or task: the chunks that its handler has written, in their order. */
  output(id: number, request?: OutputRequest): Promise<readonly OutputChunk[]> {
    return this.#reads.output(id, request);
  }

  /** Returns a page of the output; if there are no chunks, the run or task as it was read after that. For followers. */
  outputOrJob(id: number, request?: OutputRequest): Promise<readonly OutputChunk[] | Job> {
    return this.#reads.outputOrJob(id, request);
  }

  /** Task counts and durations of a run (seed 1 of docs/seeds.md). */
  stats(id: number): Promise<JobRunStats> {
    return this.#reads.stats(id);
  }

  /** The current stage of a run, and the data of each of its stages (seed 3 of docs/seeds.md). */
  stage(id: number): Promise<StageInfo<readonly LogLine[]>> {
    return this.#reads.stage(id);
  }

  /** How many due jobs of the same kind and type precede a pending job, at most 10,000; null: it is not pending. */
  queuePosition(job: Job): Promise<number | null> {
    return this.#reads.queuePosition(job);
  }

  /** Why a job is not running. */
  explain(id: number): Promise<readonly Reason[]> {
    return this.#reads.explain(id);
  }

  /** Resolves when this instance has changed the job or the job has ended, at the latest after `withinMs`. */
  untilChange(id: number, withinMs: number): Promise<void> {
    return this.#parts.watchers.until(id, withinMs);
  }

  /**
   * Watches a job until `stop` is called. `changed` of the returned object resolves when this instance has changed the
   * job, and when any process has ended the job.
   */
  watchChanges(id: number): JobWatch {
    return this.#parts.watchers.watch(id);
  }

  // Reads of many jobs.

  /** Finds runs, tasks and Bedrock jobs. Finds definitions and other kinds only if `query.kinds` names their kind. */
  find(query?: Query, page?: PageRequest): Promise<Page> {
    return this.#reads.find(query, page);
  }

  /**
   * Counts jobs by kind, type and standing: the state of an open job, the fate of an ended one. With `dueBy`, also
   * counts how many of them are pending and due before that time.
   */
  count(query?: Query, dueBy?: number): Promise<readonly Tally[]> {
    return this.#reads.count(query, dueBy);
  }

  /**
   * The newest failures since a time, grouped by type, error code and the beginning of the message without its numbers.
   */
  failures(request: FailuresRequest): Promise<Failures> {
    return this.#reads.failures(request);
  }

  /** The job types whose code this engine has. */
  types(): readonly JobType[] {
    return this.#reads.types();
  }

  /** The settings of a type, from the code of this engine or as another program registered them; null: unknown type. */
  typeEntry(name: string): Promise<TypeEntry | null> {
    return this.#reads.typeEntry(name);
  }

  /**
   * The limits on jobs of these types, from the code of this engine or as another program registered them. A claim for
   * a worker without the code of the types needs these limits.
   */
  claimVersions(types: readonly string[], stated: readonly TypeVersions[]): Promise<readonly TypeVersions[]> {
    return this.#reads.claimVersions(types, checkVersions(stated));
  }

  claimLimits(types: readonly string[]): Promise<Limits> {
    return this.#reads.limits(types);
  }

  /**
   * Returns a function that computes what a task of the run, of one of these types, takes of its named limits, and its
   * share.
   */
  taskLimitUses(
    run: Job,
    types: readonly string[],
  ): Promise<(type: string, task: unknown) => readonly LimitUse[]> {
    return this.#reads.taskLimitUses(run, types);
  }

  /** The limits on jobs of these types, each with the number of jobs that it has admitted. */
  limitsInUse(types: readonly string[]): Promise<readonly LimitInUse[]> {
    return this.#reads.limitsInUse(types);
  }

  /** For each fairness key of the type, how many of its jobs have started and not ended, beside its weight. */
  sharesInUse(type: string): Promise<readonly ShareInUse[]> {
    return this.#reads.sharesInUse(type);
  }

  /** For each of these types, the unclaimed job that has been due longest; types without a due job are absent. */
  oldestDue(types: readonly string[]): Promise<ReadonlyMap<string, DueJob>> {
    return this.#reads.oldestDue(types);
  }

  instances(): Promise<readonly Instance[]> {
    return this.#reads.instances();
  }

  /**
   * Yields all events after a cursor, then new events as they happen, until the caller leaves the loop. Without a
   * cursor: only new events. For in-memory jobs: only new events, whatever the cursor.
   */
  events(from?: { readonly after?: string }): AsyncGenerator<EngineEvent, void, undefined> {
    return this.#reads.events(from);
  }

  /** The events of in-memory jobs after a cursor; the database does not contain them. */
  eventsInMemory(cursor: string | null, limit: number): Promise<FeedPage> {
    return this.#reads.eventsInMemory(cursor, limit);
  }

  /** The time of the store. */
  now(): number {
    return this.#reads.now();
  }

  #logRetention(): void {
    const { logger, retention: { jobsMs } } = this.#parts;
    const rule = jobsMs === null ? 'kept for ever' : `deleted ${formatDuration(jobsMs)} after their end`;
    logger.info(`ended runs are ${rule}, unless their type or definition has a retention of its own`);
  }

  #handle<Result>({ id, outcome }: Created): RunHandle<Result> {
    return new RunHandle<Result>(this, id, outcome);
  }
}
