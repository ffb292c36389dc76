/** The routes of runs: create, read, change and end them, one by one or in bulk. */
import { z } from 'zod';
import {
  Act, AnswerRequest, BulkRequest, CancelRequest, HandOffFailure, HandOffResult, LinkAnswer, LinkRequest, name, pageFields,
  QuestionQuery, ReasonQuery, RetryRequest,
  RunRequest, RunEdit, RunFailure, RunFilter, RunListQuery, RunParams, RunResult, whole,
} from './requests.ts';
import { readers, produce, readersAndProducers, operate, operateOrOwn, Items, text, at, define } from './route.ts';
import {
  count, EventView, instant, LogLineView, OutputPage, StepView, pageOf, ProgressView, QuestionView, ReasonView, RunCreated, RunDetail, RunPage,
  RunStats, RunView,
} from './run-views.ts';
import { BulkStarted, FailureGroupView, MatrixView, Nothing, OperationView, seriesRanges, StatsView } from './views.ts';
import { WorkReply } from './work.ts';

const position = z.string().max(40).meta({ description: 'the position of a chunk: only chunks behind it' });

export const runRouteTable = define({
  listRuns: {
    method: 'get', path: at('/runs'), roles: readers, summary: 'List runs that match a filter', query: RunListQuery,
    answer: RunPage,
  },
  countRuns: {
    method: 'get', path: at('/runs/count'), roles: readers,
    summary: 'Count jobs that match a filter, by type and standing',
    query: RunFilter,
    answer: z
      .object({
        total: count,
        items: StatsView.shape.types,
        isCut: z.boolean().meta({
          description: 'whether older matches were not counted: a caller who sees redacted texts and searches a text',
        }),
      })
      .meta({ id: 'RunCount' }),
  },
  createRun: {
    method: 'post', path: at('/runs'), roles: produce, status: 201,
    summary: 'Create a run of a type or definition; with the header Idempotency-Key, only once', body: RunRequest,
    answer: RunCreated,
  },
  getRun: {
    method: 'get', path: at('/runs/{id}'), roles: readersAndProducers,
    summary: 'Get a run with input, result and attempts',
    params: RunParams, answer: RunDetail,
  },
  editRun: {
    method: 'patch', path: at('/runs/{id}'), roles: operate, summary: 'Change priority, due time or tags of a run',
    params: RunParams, body: RunEdit, answer: RunView,
  },
  deleteRun: {
    method: 'delete', path: at('/runs/{id}'), roles: operate, summary: 'Delete an ended run',
    params: RunParams, query: ReasonQuery, answer: Nothing,
  },
  listTasks: {
    method: 'get', path: at('/runs/{id}/tasks'), roles: readers, summary: 'List the tasks of a run', params: RunParams,
    query: z.strictObject({ ...pageFields, state: RunFilter.shape.state }).meta({ id: 'TaskListQuery' }),
    answer: RunPage,
  },
  getMatrix: {
    method: 'get', path: at('/runs/{id}/matrix'), roles: readers,
    summary: 'Get state and duration of every task of a run, in a compact form',
    params: RunParams,
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 20_000).optional() }).meta({ id: 'MatrixQuery' }),
    answer: MatrixView,
  },
  listEvents: {
    method: 'get', path: at('/runs/{id}/events'), roles: readers,
    summary: 'List the events of a run', params: RunParams,
    query: z.strictObject({
      from: whole(1, Number.MAX_SAFE_INTEGER).optional(),
      limit: whole(1, 1000).optional() }).meta({ id: 'EventListQuery',
    }),
    answer: pageOf('EventPage', EventView),
  },
  getProgress: {
    method: 'get', path: at('/runs/{id}/progress'), roles: readers, summary: 'Get the progress tree of a run',
    params: RunParams,
    answer: z.object({ progress: ProgressView.nullable() }).meta({ id: 'ProgressAnswer' }),
  },
  getLog: {
    method: 'get', path: at('/runs/{id}/log'), roles: readers, summary: 'Get the log of a run', params: RunParams,
    query: z.strictObject({
      after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit: whole(1, 1000).optional() }).meta({ id: 'LogQuery',
    }),
    answer: pageOf('LogPage', LogLineView),
  },
  getSteps: {
    method: 'get', path: at('/runs/{id}/steps'), roles: readers, summary: 'List the finished steps and the sleeps of a run',
    params: RunParams,
    query: z.strictObject({
      after: whole(0, Number.MAX_SAFE_INTEGER).optional(), limit: whole(1, 1000).optional() }).meta({ id: 'StepQuery',
    }),
    answer: pageOf('StepPage', StepView),
  },
  getOutput: {
    method: 'get', path: at('/runs/{id}/output'), roles: readersAndProducers,
    summary: 'Get chunks of the output that the handler of a run has written',
    params: RunParams,
    query: z.strictObject({ after: position.optional(), limit: whole(1, 1000).optional() }).meta({ id: 'OutputQuery' }),
    answer: OutputPage,
  },
  getRunStats: {
    method: 'get', path: at('/runs/{id}/stats'), roles: readers, summary: 'Get statistics of a run and its tasks',
    params: RunParams, answer: RunStats,
  },
  explainRun: {
    method: 'get', path: at('/runs/{id}/explain'), roles: readers,
    summary: 'Explain why a run is not running', params: RunParams,
    answer: Items('Reasons', ReasonView),
  },
  streamRun: {
    method: 'get', path: at('/runs/{id}/stream'), roles: readers,
    summary: 'Stream server-sent events `run`, `progress` and `log` until the run has ended',
    params: RunParams, answer: text,
    as: 'events',
  },
  streamOutput: {
    method: 'get', path: at('/runs/{id}/output/stream'), roles: readersAndProducers,
    summary: 'Stream each chunk of the output of a run as a server-sent event `chunk`, until `end`: the run has ended',
    params: RunParams, query: z.strictObject({ after: position.optional() }).meta({ id: 'OutputStreamQuery' }), answer: text,
    as: 'events',
  },
  cancelRun: {
    method: 'post', path: at('/runs/{id}/cancel'), roles: operateOrOwn,
    summary: 'Ask a run to stop; its handler can clean up. A producer can cancel the runs that it has created',
    params: RunParams,
    body: CancelRequest, answer: RunView,
  },
  stopRun: {
    method: 'post', path: at('/runs/{id}/stop'), roles: operate, summary: 'Stop a run immediately', params: RunParams,
    body: Act,
    answer: z.object({ run: RunView, how: z.enum(['terminated', 'disowned', 'idle']) }).meta({ id: 'Stopped' }),
  },
  retryRun: {
    method: 'post', path: at('/runs/{id}/retry'), roles: operate, summary: 'Run an ended run again',
    params: RunParams, body: RetryRequest, answer: RunView,
  },
  pauseRun: {
    method: 'post', path: at('/runs/{id}/pause'), roles: operate, summary: 'Pause a pending run',
    params: RunParams, body: Act, answer: RunView,
  },
  resumeRun: {
    method: 'post', path: at('/runs/{id}/resume'), roles: operate, summary: 'Resume a paused run',
    params: RunParams, body: Act, answer: RunView,
  },
  bulk: {
    method: 'post', path: at('/bulk'), roles: operate, status: 202,
    summary: 'Act on all runs that match a filter, in a run that shows the progress', body: BulkRequest,
    answer: BulkStarted,
  },
  completeRun: {
    method: 'post', path: at('/runs/{id}/complete'), roles: operate,
    summary: 'Complete a run that was handed off, in place of the system that has its token', params: RunParams,
    body: RunResult, answer: RunView,
  },
  failRun: {
    method: 'post', path: at('/runs/{id}/fail'), roles: operate,
    summary: 'Fail a run that was handed off, in place of the system that has its token', params: RunParams,
    body: RunFailure, answer: RunView,
  },
  completeHandOff: {
    method: 'post', path: at('/handoffs/complete'), roles: null,
    summary: 'Complete a job with the token with which it was handed off', body: HandOffResult, answer: WorkReply,
  },
  failHandOff: {
    method: 'post', path: at('/handoffs/fail'), roles: null,
    summary: 'Fail a job with the token with which it was handed off', body: HandOffFailure, answer: WorkReply,
  },
  listQuestions: {
    method: 'get', path: at('/questions'), roles: readers,
    summary: 'List the questions of handlers that wait for an answer, oldest run first',
    query: QuestionQuery,
    answer: z.object({ items: z.array(QuestionView), next: z.string().nullable() }).meta({ id: 'QuestionPage' }),
  },
  answerRun: {
    method: 'post', path: at('/runs/{id}/answer'), roles: operateOrOwn,
    summary: 'Answer a question of a run; the first answer counts. The question says which role is needed. A producer can ' +
      'answer the runs that it has created',
    params: RunParams, body: AnswerRequest, answer: RunView,
  },
  getLinkQuestion: {
    method: 'post', path: at('/answers/question'), roles: null,
    summary: 'Get the question that the token of a link answers', body: LinkRequest, answer: QuestionView,
  },
  answerByLink: {
    method: 'post', path: at('/answers'), roles: null,
    summary: 'Answer a question with the token of a link, once', body: LinkAnswer, answer: WorkReply,
  },
  listOperations: {
    method: 'get', path: at('/operations'), roles: readers, summary: 'List bulk operations, newest first',
    query: z.strictObject({ after: pageFields.after, limit: whole(1, 200).optional() }).meta({ id: 'OperationQuery' }),
    answer: pageOf('OperationPage', OperationView),
  },
  listFailures: {
    method: 'get', path: at('/failures'), roles: readers,
    summary: 'List the newest failures, grouped by type, code and message',
    query: z
      .strictObject({ range: z.enum(seriesRanges).optional(), type: name.optional() })
      .meta({ id: 'FailureQuery' }),
    answer: z
      .object({
        items: z.array(FailureGroupView),
        since: instant,
        bucketMs: z.number(),
        scanned: count.meta({ description: 'number of jobs scanned' }),
        isCut: z.boolean().meta({ description: 'whether older failures were not scanned' }),
      })
      .meta({ id: 'Failures' }),
  },
});
