/** The engine: what a program holds to run jobs and to read them. It composes; its workers do the work. */
import type { Asker } from '../apply.ts';
import type { Jobs } from '../jobs.ts';
import { declare, definition, disable, enable, override, undefine, type KnownDefinition } from '../jobs/define.ts';
import { auditView } from '../jobs/audit.ts';
import type { Created } from '../jobs/create.ts';
import type { Act } from '../jobs/operate.ts';
import type { Spec } from '../model/definition.ts';
import type { Edit } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { jsonText } from '../model/json.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import { durationMs, type Duration } from '../time/duration.ts';
import { jobDef, type DefOptions, type JobDef } from './declare/job-def.ts';
import type { JobType } from './declare/job-type.ts';
import { busyType, hasNewToStart, refuseWhileBusy } from './declare/one-per-type.ts';
import { Loop } from '../time/loop.ts';
import { instanceCommandDraft, InstanceCommands, type InstanceCommand } from './loops/instance-commands.ts';
import { EngineReads, type ReadParts } from './reads.ts';
import {
  draftsOf, isOneAtATime, type RequestOf, type ResultOf, type RunRequest, type Runnable,
} from './declare/run-request.ts';
import {
  RunHandle, type ActOptions, type CancelOptions, type EndOptions, type RetryOptions, type RunBackend, type RunMaker,
} from './run-handle.ts';
import { Worker, type WorkerParts } from './worker.ts';
import { stopWouldBe, type StopAnswer } from './inspect/stop.ts';
import { parseToken } from './handler/token.ts';
import { storedError } from './work/command-for.ts';

export { firstMemoryId } from './stores.ts';

export interface EngineParts extends WorkerParts, ReadParts {
  readonly defs: readonly JobDef[];
}

type Drafts = Parameters<Jobs['createMany']>[0];
type StoreDrafts = (jobs: Jobs, drafts: Drafts) => Promise<readonly Created[]>;

const closePatience: Duration = '30s';
const declareBatch = 100;
/** How long ended runs stay in memory unless something else is said: for ever would fill it. */
const memoryRetentionDefault: Duration = '1h';

export class EngineCore extends EngineReads implements RunBackend, RunMaker {
  readonly instance: string;
  readonly #parts: EngineParts;
  readonly #workers: Worker[];
  readonly #commandLoop: Loop;
  #hasMemoryWorker = false;
  #isResumed = false;
  #ready: Promise<void> | null = null;

  constructor(parts: EngineParts) {
    super(parts);
    this.instance = parts.instance;
    this.#parts = parts;
    const commands = new InstanceCommands({
      ...parts,
      isNotClaiming: () => !this.#isResumed || this.#workers[0]!.isFull,
      apply: (order) => (order === 'drain' ? this.suspend() : this.resume()),
    });
    this.#workers = [new Worker({ ...parts, instanceCommands: commands })];
    this.#commandLoop = new Loop('instance commands', parts, () => commands.turn());
  }

  // Life.

  /** Brings the schema up to date, declares the definitions, and starts to work. */
  async resume(): Promise<void> {
    await this.ready();
    await this.#declareAll(this.#parts.defs);
    this.#isResumed = true;
    await Promise.all(this.#workers.map((worker) => worker.start()));
    this.#commandLoop.start();
  }

  /** Stops claiming; what runs goes on. `resume` starts again. */
  async suspend(): Promise<void> {
    this.#isResumed = false;
    await Promise.all(this.#workers.map((worker) => worker.suspend()));
  }

  /** Drains and lets go: what has not ended in time is handed back without losing a try. */
  async close({ patience = closePatience }: { readonly patience?: Duration } = {}): Promise<void> {
    await this.#commandLoop.stop();
    await Promise.all(this.#workers.map((worker) => worker.close(durationMs(patience))));
    await this.#parts.isolation.close();
    await this.jobs.store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Asks an instance, this one or another, to take no more work or to take some again. Answers the run that asks. */
  async order(instance: string, order: InstanceCommand, act?: ActOptions): Promise<number> {
    const known = (await this.instances()).find(({ id }) => id === instance);
    if (known === undefined || known.leaseUntil <= this.now() || known.about.pid === 0) {
      throw new Refusal('unknown.instance', `there is no living instance ${instance} that takes orders`, { instance });
    }
    const asker = this.#asker(act);
    const { id } = await this.jobs.create(instanceCommandDraft(instance, order), asker.by);
    await this.jobs.audit({ action: order, job: id, def: null, before: null, after: { instance } }, asker);
    this.#commandLoop.wake();
    return id;
  }

  /** The schema is up to date. */
  ready(): Promise<void> {
    this.#ready ??= Promise.all([this.jobs.store.migrate(), this.#parts.tracing.load()]).then(
      () => {},
      (error: unknown) => {
        // A store that was away at the start is asked again by whoever needs it next.
        this.#ready = null;
        throw error;
      },
    );
    return this.#ready;
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
    return this.#create(what, requests, this.#creating(this.instance));
  }

  /** A run of a type or definition that is known by its name only, as it is to those who ask over a wire. */
  async createNamed(
    what: { readonly type: string } | { readonly def: string },
    request: RunRequest<unknown>,
    by = this.instance,
  ): Promise<RunHandle> {
    await this.ready();
    const named = 'type' in what ? this.#typeOf(what.type) : await this.#defOf(what.def);
    return (await this.#create<unknown, unknown>(named as never, [request], this.#creating(by)))[0]!;
  }

  /** Creates runs in the caller's own transaction: they exist if and when that commits. */
  in(transaction: unknown): RunMaker {
    const create: StoreDrafts = (jobs, drafts) => jobs.createWithin(transaction, drafts, this.instance);
    return {
      createJobRun: async <What extends Runnable>(what: What, ...[request]: RequestOf<What>) =>
        (await this.#create<unknown, ResultOf<What>>(what, [request ?? {}], create))[0]!,
    };
  }

  run<Result = unknown>(id: number): RunHandle<Result> {
    return new RunHandle<Result>(this, id);
  }

  async cancelJobRun(id: number, { grace, ...act }: CancelOptions = {}): Promise<Job> {
    const graceMs = grace === undefined ? undefined : durationMs(grace);
    const job = await this.#audited('cancel', id, act, (jobs) => jobs.cancel(id, this.#ender(act), graceMs));
    this.#checkCancels();
    return job;
  }

  async stopJobRun(id: number, act?: EndOptions): Promise<StopAnswer> {
    const how = await stopWouldBe(this.stores.forJob(id), id);
    const job = await this.#audited('stop', id, act, (jobs) => jobs.stop(id, this.#ender(act)));
    this.#checkCancels();
    return { job, how };
  }

  async retryJobRun(id: number, { only, ...act }: RetryOptions = {}): Promise<Job> {
    const job = await this.#audited('retry', id, act, (jobs) => jobs.retry(id, this.#asker(act), only));
    this.#wake();
    return job;
  }

  deleteJobRun(id: number, act?: ActOptions): Promise<void> {
    return this.stores.forJob(id).delete(id, act?.by === undefined ? undefined : this.#asker(act));
  }

  async editJobRun(id: number, edit: Edit, act?: ActOptions): Promise<Job> {
    const job = await this.#audited('edit', id, act, (jobs) => jobs.edit(id, edit, this.#asker(act)));
    this.#wake();
    return job;
  }

  async pauseJobRun(id: number, act?: ActOptions): Promise<Job> {
    return this.#audited('pause', id, act, (jobs) => jobs.pause(id, this.#asker(act)));
  }

  async resumeJobRun(id: number, act?: ActOptions): Promise<Job> {
    const job = await this.#audited('resume', id, act, (jobs) => jobs.resume(id, this.#asker(act)));
    this.#wake();
    return job;
  }

  /** Finishes a job that its handler handed off. */
  async complete(token: string, result?: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.stores.forJob(id).succeed(id, fence, { by: 'token' }, jsonText(result));
  }

  async fail(token: string, error: unknown): Promise<Job> {
    const { id, fence } = parseToken(token);
    return this.stores.forJob(id).fail(id, fence, storedError(error), { by: 'token' });
  }

  // Definitions.

  /** A definition that no code declares. Refused if there is one of this name. */
  async define(name: string, type: string, options: DefOptions<unknown>, act?: ActOptions): Promise<void> {
    const { spec, enabled } = jobDef<unknown, unknown>(name, this.#typeOf(type) as never, options);
    const jobs = this.stores.forSpec(spec);
    const isKnown = await definition(jobs.store, name).then(() => true, isUnknown);
    if (isKnown) throw new Refusal('taken.key', `there is a definition ${name} already: override it instead`, { name });
    if (spec.inMemory) await this.#startMemoryWorker();
    await this.#auditedDef('define', name, act, () => declare(jobs, name, spec, enabled, this.#asker(act).by));
    this.#reschedule();
  }

  /** Ends a definition; its runs stay. One that code declares comes back when an engine with that code starts. */
  async undefine(name: string, act?: ActOptions): Promise<void> {
    const { store } = await this.stores.forDefinition(name);
    await this.#auditedDef('undefine', name, act, () => undefine(store, name, this.#asker(act)));
  }

  async enable(name: string, act?: ActOptions): Promise<void> {
    const { store } = await this.stores.forDefinition(name);
    await this.#auditedDef('enable', name, act, () => enable(store, name, this.#asker(act)));
    this.#reschedule();
  }

  async disable(name: string, act?: ActOptions): Promise<void> {
    const { store } = await this.stores.forDefinition(name);
    await this.#auditedDef('disable', name, act, () => disable(store, name, this.#asker(act)));
  }

  /** Operator override of a definition. Survives deploys; null removes it. */
  async override(name: string, overrides: Partial<Spec> | null, act?: ActOptions): Promise<void> {
    const jobs = await this.stores.forDefinition(name);
    await this.#auditedDef('override', name, act, () => override(jobs, name, overrides, this.#asker(act)));
    this.#reschedule();
  }

  /** What somebody does who has a name is kept; what the program does by itself stands in the histories alone. */
  async #audited(
    action: string,
    id: number,
    act: ActOptions | undefined,
    work: (jobs: Jobs) => Promise<Job>,
  ): Promise<Job> {
    const jobs = this.stores.forJob(id);
    if (act?.by === undefined) return work(jobs);
    const before = await jobs.get(id);
    const after = await work(jobs);
    const entry = { action, job: id, def: after.def, before: before && auditView(before), after: auditView(after) };
    await this.jobs.audit(entry, this.#asker(act));
    return after;
  }

  async #auditedDef(
    action: string,
    name: string,
    act: ActOptions | undefined,
    work: () => Promise<unknown>,
  ): Promise<void> {
    if (act?.by === undefined) return void (await work());
    const read = (): Promise<unknown> => this.definition(name).then(({ isEnabled, override: overrides, code }) =>
      ({ isEnabled, override: overrides, code }), nothing);
    const before = await read();
    await work();
    await this.jobs.audit({ action, job: null, def: name, before, after: await read() }, this.#asker(act));
  }

  async #create<Input, Result>(
    what: JobDef<Input, Result> | JobType<Input, Result>,
    requests: readonly RunRequest<Input>[],
    store: StoreDrafts,
  ): Promise<readonly RunHandle<Result>[]> {
    const now = this.now();
    const isDef = 'spec' in what;
    const jobs = isDef ? this.stores.forSpec(what.spec) : this.jobs;
    const type = (isDef ? what.type : what) as unknown as JobType;
    if (jobs === this.stores.memory) await this.#startMemoryWorker();
    const known = isDef ? await this.#known(what, jobs) : null;
    const isOnePerType = known ? known.spec.onePerType : type.options.onePerType;
    const drafts = await draftsOf(type, known, requests, now);
    if (isOnePerType && (await hasNewToStart(jobs, drafts, now))) await refuseWhileBusy(jobs, type.name);
    const created = await this.#parts.tracing.creating(type.name, drafts, (traced) => this.#store(jobs, traced, store));
    return created.map(({ id, outcome }, index) => {
      if (outcome !== 'created' && isOneAtATime(drafts[index]!, requests[index]!)) throw busyType(type.name, id);
      return new RunHandle<Result>(this, id, outcome);
    });
  }

  async #store(jobs: Jobs, drafts: Drafts, store: StoreDrafts): Promise<readonly Created[]> {
    const created = await store(jobs, drafts);
    if (created.some(({ job }) => job?.state !== 'running')) this.#wake();
    return created;
  }

  #creating(by: string): StoreDrafts {
    const { claimOnCreate } = this.#workers[0]!;
    return (jobs, drafts) => {
      const draft = drafts.length === 1 && jobs === this.jobs ? drafts[0]! : null;
      if (draft && claimOnCreate.applies(draft.type)) return claimOnCreate.create(draft, by);
      return jobs.createMany(drafts, by);
    };
  }

  /** A definition that was not declared yet, since the engine has not been resumed, is declared now. */
  async #known({ name, spec, enabled }: JobDef, jobs: Jobs): Promise<KnownDefinition> {
    try {
      return await definition(jobs.store, name);
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'unknown.definition') throw error;
      await declare(jobs, name, spec, enabled, this.instance);
      return definition(jobs.store, name);
    }
  }

  /** Of a type whose code lives elsewhere only the name is known. */
  #typeOf(name: string): JobType {
    return this.#parts.handlers.get(name) ?? { name, options: {} };
  }

  async #defOf(name: string): Promise<JobDef> {
    const { spec, isEnabled } = await this.definition(name);
    return { name, spec, type: this.#typeOf(spec.type), enabled: isEnabled };
  }

  /** Some at a time: the store writes together what comes together, and an engine may have thousands. */
  async #declareAll(defs: readonly JobDef[]): Promise<void> {
    if (defs.some(({ spec }) => spec.inMemory)) await this.#startMemoryWorker();
    for (let from = 0; from < defs.length; from += declareBatch) {
      const batch = defs.slice(from, from + declareBatch);
      await Promise.all(batch.map(({ name, spec, enabled }) => declare(this.stores.forSpec(spec), name, spec, enabled, this.instance)));
    }
  }

  /** Runs in memory are worked on from the first of them on. */
  async #startMemoryWorker(): Promise<void> {
    if (this.#hasMemoryWorker) return;
    const { retention, ...parts } = this.#parts;
    const memoryRetention = { ...retention, jobsMs: retention.jobsMs ?? durationMs(memoryRetentionDefault) };
    const worker = new Worker({ ...parts, jobs: parts.memory, retention: memoryRetention });
    this.#hasMemoryWorker = true;
    this.#workers.push(worker);
    if (this.#isResumed) await worker.start();
  }

  #checkCancels(): void {
    for (const worker of this.#workers) worker.checkCancels();
  }

  #wake(): void {
    for (const worker of this.#workers) worker.wake();
  }

  #reschedule(): void {
    for (const worker of this.#workers) worker.reschedule();
  }

  #asker({ by = this.instance, why }: ActOptions = {}): Asker {
    return { by, ...(why === undefined ? {} : { why }) };
  }

  #ender({ code, ...act }: EndOptions = {}): Act {
    return { ...this.#asker(act), ...(code === undefined ? {} : { code }) };
  }
}

/** There is no such definition, before or after. */
function nothing(error: unknown): null {
  if (isRefusal(error) && error.code === 'unknown.definition') return null;
  throw error;
}

function isUnknown(error: unknown): false {
  if (isRefusal(error) && error.code === 'unknown.definition') return false;
  throw error;
}
