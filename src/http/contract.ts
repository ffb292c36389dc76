/**
 * The contract: every route with its roles and the schemas of its requests and responses. Server, client, OpenAPI
 * document and dashboard take their types from here. Times are milliseconds since 1970, by the store's clock except for
 * log lines and progress of engines, which have the time of their host. In requests, a time can also be ISO 8601 with a
 * zone.
 */
export { apiPath, bulkActions, type Role, roles, standingWords } from './contract/words.ts';
export { RunRequest, RunFilter, ScheduleRequest } from './contract/requests.ts';
export {
  AttemptView, Changed, EventView, JobErrorView, LogLineView, OutputChunkView, StepView, ProgressOutline, ProgressView, QuestionView, ReasonView,
  RunCreated, RunDetail, RunPage, RunView, TaskCounts,
} from './contract/run-views.ts';
export {
  AuditView, DefPage, DefView, FailureGroupView, InstanceView, LimitView, MatrixView, OperationView, PauseView, PreviewTick,
  Problem, QueueView, ScheduleView, type SeriesRange, seriesRanges, SeriesView, StatsView, StoreView, TickView,
  TokenView,
  TypeDetail, TypeView,
} from './contract/views.ts';
export { AlertView, SentAlertView } from './contract/alert-routes.ts';
export { NamedLimitView } from './contract/limit-routes.ts';
export { SavedViewView } from './contract/saved-view-routes.ts';
export { ClaimedView, ProgressStep } from './contract/work.ts';
export {
  type Answer, type ParsedRequest, type Route, type RouteName, routes, type Routes, type RequestArguments,
} from './contract/routes.ts';
