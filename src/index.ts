/** The public names of Stint. */
export { Engine, type EngineOptions } from './open.ts';
export type { EngineEntries } from './open/entries.ts';
export { openStore } from './open/store.ts';
export { storeUrl } from './open/store-url.ts';
export type { Codec, PayloadOwner, PayloadPart } from './store/coded/codec.ts';
export { encrypt, type EncryptionKeys } from './store/coded/encrypt.ts';
export type { Middleware, WorkAttempt } from './engine/declare/middleware.ts';
export type { NewRun, RunChanges } from './jobs/creation-hook.ts';
export {
  jobType, type ChildRuns, type EndedChild, type EndedChildren, type EndedTask, type JobType, type TaskCounts,
} from './engine/declare/job-type.ts';
export type { ChildRequest } from './engine/declare/child-request.ts';
export type { BatchSettings } from './engine/declare/batch.ts';
export type { BatchJob, BatchOutcome } from './engine/handler/batch-job.ts';
export { jobAlert, type AlertOptions, type AlertTo, type AlertWhen, type JobAlert } from './engine/declare/alert.ts';
export type { AlertSettings, AlertStatus, SentAlert, SentAlerts } from './engine/alert-actions.ts';
export type { ViewRequest } from './engine/saved-view-actions.ts';
export type { SavedView } from './jobs/saved-views.ts';
export type { SavedViewPage } from './model/saved-view.ts';
export type { AlertMessage } from './model/alert.ts';
export { limit, type Limit, type LimitOptions } from './engine/declare/limit.ts';
export type { Cost } from './engine/declare/limit-uses.ts';
export type { Fairness } from './engine/declare/fairness.ts';
export type { RetrySettings, Settings } from './engine/declare/settings.ts';
export type { DefChanges } from './engine/declare/def-changes.ts';
export type { DefDocument } from './engine/declare/def-document.ts';
export type { DefEntry, DefSettings, OverrideEntry } from './engine/declare/def-entry.ts';
export type { DefFilter, DefStatus } from './engine/declare/def-filter.ts';
export type { DefPlan, PlannedDefinition, PlannedField, PlanOptions } from './engine/declare/def-plan.ts';
export type { ApplyOptions, ExportOptions } from './engine/definition-documents.ts';
export { jobDef, type JobDef, type DefOptions } from './engine/declare/job-def.ts';
export { jobSequence, type SequenceOptions } from './engine/declare/job-sequence.ts';
export type { DefReference } from './engine/declare/def-following.ts';
export { httpType, type HttpInput, type HttpResult, type HttpTypeOptions } from './builtin/http.ts';
export { execType, type ExecInput, type ExecResult } from './builtin/exec.ts';
export type { ExecProgram, ExecTypeOptions } from './builtin/exec-policy.ts';
export { typed, type Schema } from './engine/declare/schema.ts';
export { HandedOff, type Complete, type Context, type JobLimits, type JobLog, type NamedLimit, type ProgressTracker, type RunFacts } from './engine/handler/context.ts';
export type {
  AnswerLink, AnswerSchema, StepFacts, StepFunction, StepFunctions, StepOptions, StepRetry, StepWork, WaitFunction, WaitOptions,
} from './engine/handler/step.ts';
export type { EndedStep } from './model/step.ts';
export type { JobOutput } from './engine/handler/output.ts';
export type { OutputRequest } from './engine/inspect/output.ts';
export { currentOutput, type OutputChunk } from './model/output.ts';
export type { AnswerOptions, StepsRequest } from './engine/run-handle.ts';
export type { OpenQuestion, OpenQuestions, OpenQuestionsRequest } from './engine/answer-actions.ts';
export type { AnswerRole } from './model/question.ts';
export { AnswerTimedOut, Cancelled, Fail, Interrupted, LeaseLost, RateLimited, RetryAfter, Sleeping, Snooze, TimedOut } from './engine/handler/errors.ts';
export {
  RunCancelled, RunFailed, RunHandle,
  type ActOptions, type CancelOptions, type EndOptions, type RetryOptions, type RunUpdate, type Snapshot,
} from './engine/run-handle.ts';
export type { PauseOptions, ResumeOptions } from './engine/pause-actions.ts';
export type { TransactionRuns } from './engine/transaction-runs.ts';
export type { BackfillOptions, PlannedBackfill } from './engine/backfill-actions.ts';
export type { BackfillOnly, BackfillOutcome } from './engine/backfill.ts';
export type { BusyDefinition, Calendar, CalendarHour, CalendarRequest } from './engine/inspect/calendar.ts';
export type { ListedTick, ListedTicks, TickListRequest } from './engine/inspect/past-ticks.ts';
export type { PreviewedTick } from './engine/inspect/schedule-preview.ts';
export type { FlowBuilder, FlowRun, FlowRunRequest } from './engine/declare/flow-builder.ts';
export type { FollowRequest, RunReference } from './engine/declare/follow-request.ts';
export type { FlowPage, FlowRunStanding, FlowSummary } from './engine/inspect/flows.ts';
export type { Edge } from './model/following.ts';
export type { FlowHandle } from './engine/flow-handle.ts';
export type { RunRequest } from './engine/declare/run-request.ts';
export type { ImportOutcome, ImportRequest } from './engine/run-import.ts';
export type { Reason, ReasonCode } from './engine/inspect/reason.ts';
export type { LimitOverride, LimitSettings, LimitPauseOptions, LimitResumeOptions, LimitSpread, LimitStatus, ReopenOptions } from './engine/limit-actions.ts';
export type { StopAnswer } from './engine/inspect/stop.ts';
export type { Logger } from './logger.ts';
export { at, cron, every, repeat, type Schedule } from './time/schedule.ts';
export type { ScheduleEntry } from './time/schedule-entry.ts';
export { preview } from './time/preview.ts';
export type { Duration } from './time/duration.ts';
export type { RateText } from './time/rate.ts';
export { Refusal, refusalCodes, type RefusalCode } from './refusal.ts';
export type { Job, JobError } from './model/job.ts';
export type { Pause, ResumeSpread } from './model/pause.ts';
export type { Event } from './model/event.ts';
export type { Spec } from './model/definition.ts';
export type { Progress } from './model/progress.ts';
export type { KnownDefinition } from './jobs/define.ts';
export type { ListedDefinition } from './engine/reads.ts';
export type { Query, PageRequest, Page, Standing, Tally } from './store/query.ts';
export type { FeedEvent, Instance, LogLine, StoreTransaction } from './store/store.ts';
export {
  attemptsOf, runState, taskState, type JobRunStats, type RunState, type TaskState,
} from './vocabulary/jobrun.ts';
export { fateOf, stageHistory, stageOf, type Stage, type StageFate, type StageInfo } from './vocabulary/stage.ts';
export { runStatus, type Configuration, type JobStatus } from './vocabulary/configuration.ts';
export { lockOf, scheduledState, type Lock, type ScheduledState } from './vocabulary/scheduled.ts';
export { version } from './version.ts';
