/** Views: the JSON of jobs, events, definitions and instances, with the state names of every vocabulary. */
import type { EngineCore } from '../engine/engine.ts';
import { firstMemoryId } from '../engine/stores.ts';
import type { ListedDefinition } from '../engine/reads.ts';
import type { Event } from '../model/event.ts';
import type { Spec } from '../model/definition.ts';
import { isHandedOff, type ErrorCause, type Job, type JobError } from '../model/job.ts';
import { isEncodedError, placeholderOf, shownPayload } from '../model/encoded-payload.ts';
import { parseExact } from '../model/json.ts';
import type { OutputChunk } from '../model/output.ts';
import { outline, type Progress } from '../model/progress.ts';
import { standingOf } from '../store/query.ts';
import { isLive, type FeedEvent, type Instance, type LogLine } from '../store/store.ts';
import { describeSchedule } from '../time/describe.ts';
import type { PreviewTick } from '../time/preview.ts';
import { bedrockState } from '../vocabulary/bedrock.ts';
import { runStatus, type Configuration } from '../vocabulary/configuration.ts';
import { attemptsOf, runState } from '../vocabulary/jobrun.ts';
import { lockOf, scheduledState } from '../vocabulary/scheduled.ts';
import { fateOf, stageOf } from '../vocabulary/stage.ts';
import type { EndedStep } from '../model/step.ts';
import type {
  Answer, Changed, ClaimedView, DefView, EventView, InstanceView, LogLineView, OutputChunkView, ProgressView, RunDetail, RunView, StepView,
} from './contract.ts';
import { DurationTracker } from './metrics/durations.ts';
import { redact, redactTags, redactText, redactTexts, type Visibility } from './access/redact.ts';

/** Data of a run that its row does not contain. */
export interface RunExtras {
  readonly tasks?: RunView['tasks'];
  readonly progress?: Progress | null;
}

export function runView(job: Job, visibility: Visibility, { tasks = null, progress = null }: RunExtras = {}): RunView {
  const lock = lockOf(job);
  return {
    id: job.id,
    kind: job.kind,
    type: job.type,
    typeVersion: job.typeVersion,
    def: job.def,
    parent: job.parent,
    key: job.key,
    inMemory: job.id >= firstMemoryId,
    state: job.state,
    standing: standingOf(job),
    hold: job.state === 'held' ? job.hold : null,
    phase: job.phase,
    words: {
      runState: runState(job),
      bedrock: bedrockState(job),
      stage: stageOf(job),
      fate: fateOf(job),
      status: runStatus(job),
      scheduled: scheduledState(job),
    },
    priority: job.priority,
    attempt: job.attempt,
    crashes: job.crashes,
    generation: job.generation,
    fence: job.fence,
    isHandedOff: job.state === 'running' && isHandedOff(job),
    lease: lock.owner === null ? null : { holder: lock.owner, until: lock.expires, doing: lock.state! },
    cancel: cancelView(job),
    error: job.error === null ? null : { code: job.error.code, message: redactText(job.error.message, visibility) },
    tick: job.tick === null ? null : { schedule: job.tick.schedule, nominal: job.tick.nominal },
    tags: redactTags(job.tags, visibility),
    version: job.version,
    createdAt: job.created,
    dueAt: job.due,
    startedAt: job.startedAt,
    endedAt: job.state === 'ended' ? job.endedAt : null,
    changedAt: job.changed,
    tasks: tasks !== null && tasks.total === 0 ? null : tasks,
    progress: progress === null ? null : redactTexts(ownOutline(progress), visibility),
  };
}

const ownOutline = (progress: Progress): RunView['progress'] => {
  const { working, ...rest } = outline(progress);
  return { ...rest, working: [...working] };
};

export const progressView = (progress: Progress | null, visibility: Visibility): ProgressView | null =>
  (progress === null ? null : redactTexts({ ...progress, fence: progress.fence ?? null }, visibility) as ProgressView);

export const logView = (lines: readonly LogLine[], visibility: Visibility): LogLineView[] =>
  lines.map((line) => ({ ...line, text: redactText(line.text, visibility) }));

export const chunkView = ({ value, ...chunk }: OutputChunk, visibility: Visibility): OutputChunkView =>
  ({ ...chunk, value: redact(value, visibility) });

export const stepView = (step: EndedStep, visibility: Visibility): StepView => {
  const { n, name, kind, startedAt, endedAt, fence } = step;
  return { n, name, kind, startedAt, endedAt, fence, result: payload(step.result, visibility) };
};

export function cancelView({ cancel }: Job): RunView['cancel'] {
  if (cancel === null) return null;
  const { by, at, code, why, stopAt } = cancel;
  return { by, at, code, why, stopAt };
}

const attemptsShownMax = 100;

export interface RunDetailExtras extends RunExtras {
  readonly queuePosition: number | null;
  readonly flow: number | null;
}

export function runDetail(
  job: Job,
  events: readonly Event[],
  visibility: Visibility,
  { queuePosition, flow, ...extras }: RunDetailExtras,
): RunDetail {
  const attempts = attemptsOf(events).slice(0, attemptsShownMax);
  return {
    ...runView(job, visibility, extras),
    error: errorView(job.error, visibility),
    input: payload(job.input, visibility),
    result: payload(job.result, visibility),
    details: payload(job.details, visibility),
    policy: { ...job.policy },
    queuePosition,
    flow,
    createdBy: events[0]?.by ?? '',
    waitedMs: firstWaitMs(job, events),
    attempts: attempts.map((attempt) => ({ ...attempt, error: errorView(attempt.error, visibility) })),
  };
}

/** Returns how long the job waited from when it could be claimed until its first claim; null: it was never claimed. */
function firstWaitMs({ id, kind }: Job, events: readonly Event[]): number | null {
  const durations = new DurationTracker();
  for (const event of events) {
    const { waitedMs } = durations.endedBy({ job: id, kind, event });
    if (waitedMs !== null) return waitedMs;
  }
  return null;
}

/** Parses and redacts a payload. Numbers stay as they were written, even those that JavaScript cannot represent. */
const payload = (text: string | null, visibility: Visibility): unknown =>
  (text === null ? null : redact(parseExact(shownPayload(text)), visibility));

/** The data of an error; the placeholder if the content of the error is encoded. */
const shownData = (error: JobError): unknown =>
  (isEncodedError(error) ? placeholderOf((error.data as { $encoded: string }).$encoded) : error.data);

function errorView(error: JobError | null, visibility: Visibility): RunDetail['error'] {
  if (error === null) return null;
  const { code, message, name, id, causes, data, stack } = error;
  return {
    code,
    message: redactText(message, visibility),
    ...(name === undefined ? {} : { name }),
    ...(id === undefined ? {} : { id: redactText(id, visibility) }),
    ...(causes === undefined ? {} : { causes: causes.map((cause) => causeView(cause, visibility)) }),
    ...(data === undefined ? {} : { data: redact(shownData(error), visibility) }),
    ...(stack === undefined || visibility === 'shape' ? {} : { stack: redactText(stack, visibility) }),
  };
}

const causeView = ({ message, name, id }: ErrorCause, visibility: Visibility): ErrorCause => ({
  message: redactText(message, visibility),
  ...(name === undefined ? {} : { name }),
  ...(id === undefined ? {} : { id: redactText(id, visibility) }),
});

export function eventView(event: Event, visibility: Visibility): EventView {
  const { n, at, by, why, kind, ...data } = event;
  return { n, at, by, why: why ?? null, kind, data: visible(data, visibility) };
}

const isPayload = (name: string): boolean => name === 'details' || name === 'input';

/** Redacts the data of an event. Payloads in it are JSON texts, which are parsed first. */
function visible(data: Readonly<Record<string, unknown>>, visibility: Visibility): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => {
      if (isPayload(name) && typeof value === 'string') return [name, payload(value, visibility)];
      if (name === 'tags' && value !== null) return [name, redactTags(value as Record<string, string>, visibility)];
      if (name === 'edit') return [name, visible(value as Record<string, unknown>, visibility)];
      if (name === 'error') return [name, errorView(value as JobError, visibility)];
      return [name, value];
    }),
  );
}

export const changed = ({ job, kind, type, def, parent, event }: FeedEvent, visibility: Visibility): Changed => ({
  job,
  kind,
  type,
  def,
  parent,
  event: eventView(event, visibility),
});

function defView(known: ListedDefinition, configuration: Configuration, visibility: Visibility): DefView {
  const { name, spec, code, override, isEnabled, job } = known;
  return {
    name,
    id: job.id,
    type: spec.type,
    enabled: isEnabled,
    inMemory: spec.inMemory,
    undeclared: known.isUndeclared,
    ...configuration,
    schedules: spec.schedules.map((schedule, index) => {
      const plan = job.plan?.schedules[index];
      return {
        words: describeSchedule(schedule),
        schedule: { ...schedule },
        next: plan?.next ? { ...plan.next } : null,
        lastNominal: plan?.lastNominal ?? null,
      };
    }),
    spec: specView(spec, visibility),
    code: specView(code, visibility),
    override: override === null ? null : specView(override, visibility),
    followers: [...(known.followers ?? [])],
    version: job.version,
    createdAt: job.created,
    changedAt: job.changed,
  };
}

/** The views of definitions. Reads their runs for the fields of `Configuration`. */
export async function definitionViews(
  engine: Pick<EngineCore, 'configurations'>,
  known: readonly ListedDefinition[],
  visibility: Visibility,
): Promise<DefView[]> {
  const configurations = await engine.configurations(known);
  return known.map((each, index) => defView(each, configurations[index]!, visibility));
}

export const definitionView = async (
  engine: Pick<EngineCore, 'configurations'>,
  known: ListedDefinition,
  visibility: Visibility,
): Promise<DefView> => (await definitionViews(engine, [known], visibility))[0]!;

export const previewView = ({ nominal, due, shown, remark, skipped }: PreviewTick): ShownTick => ({
  nominal,
  due,
  shown,
  remark: remark ?? null,
  skipped: skipped ?? false,
});

type ShownTick = Answer<'previewSchedule'>['ticks'][number];

type SpecView<S> = S extends Spec ? DefView['spec'] : NonNullable<DefView['override']>;

const specView = <S extends Partial<Spec>>({ own: _own, links: _links, ...spec }: S, visibility: Visibility): SpecView<S> =>
  ({
    ...spec,
    ...('params' in spec ? { params: redact(spec.params, visibility) } : {}),
    ...(spec.tags ? { tags: redactTags(spec.tags, visibility) } : {}),
  }) as never;

export const instanceView = (instance: Instance, now: number, self: string): InstanceView => {
  const { id, started, beatAt, leaseUntil, about } = instance;
  const isAlive = isLive(instance, now);
  return {
    id,
    isAlive,
    isSelf: id === self,
    startedAt: started,
    beatAt,
    leaseUntil,
    host: about.host,
    pid: about.pid,
    version: about.version,
    types: [...about.types],
    slots: about.slots,
    busy: about.busy,
    isDraining: about.draining,
    canary: about.canary ?? null,
    isLeader: isAlive && about.leads === true,
  };
};

export const claimedView = (job: Job, children: readonly Job[]): ClaimedView => ({
  id: job.id,
  fence: job.fence,
  type: job.type,
  typeVersion: job.typeVersion,
  kind: job.kind,
  def: job.def,
  parent: job.parent,
  key: job.key,
  phase: job.phase,
  input: payload(job.input, 'full'),
  details: payload(job.details, 'full'),
  attempt: job.attempt,
  tags: { ...job.tags },
  dueAt: job.due,
  leaseUntil: job.state === 'running' ? job.lease.until : null,
  timeoutMs: job.policy.timeoutMs ?? null,
  children: children.map((child) => ({
    id: child.id,
    key: child.key,
    fate: standingOf(child),
    input: payload(child.input, 'full'),
    result: payload(child.result, 'full'),
  })),
});
