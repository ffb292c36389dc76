/** The routes of workers that execute jobs over HTTP. */
import { z } from 'zod';
import { RunParams } from './requests.ts';
import { work, Items, at, define } from './route.ts';
import {
  ChildrenRequest, WorkClaimRequest, ClaimedView, CompleteRequest, FailRequest, HeartbeatRequest, HeartbeatReply,
  LogLinesRequest, ProgressRequest, ReleaseRequest, SpendRequest, WorkReply,
} from './work.ts';

export const workRouteTable = define({
  claim: {
    method: 'post', path: at('/work/claim'), roles: work,
    summary: 'Claim jobs, or wait for some', body: WorkClaimRequest,
    answer: Items('ClaimedJobs', ClaimedView),
  },
  heartbeat: {
    method: 'post', path: at('/work/{id}/heartbeat'), roles: work,
    summary: 'Extend the lease; the reply reports a cancel',
    params: RunParams, body: HeartbeatRequest, answer: HeartbeatReply,
  },
  tellProgress: {
    method: 'post', path: at('/work/{id}/progress'), roles: work, summary: 'Report progress', params: RunParams,
    body: ProgressRequest, answer: WorkReply,
  },
  tellLog: {
    method: 'post', path: at('/work/{id}/log'), roles: work, summary: 'Write to the log', params: RunParams,
    body: LogLinesRequest, answer: WorkReply,
  },
  createChildren: {
    method: 'post', path: at('/work/{id}/children'), roles: work, status: 201,
    summary: 'Create children, which become due when their parent completes',
    params: RunParams, body: ChildrenRequest,
    answer: Items('ChildIds', z.object({ id: z.number().int(), key: z.string().nullable() })),
  },
  complete: {
    method: 'post', path: at('/work/{id}/complete'), roles: work, summary: 'Complete a job', params: RunParams,
    body: CompleteRequest, answer: WorkReply,
  },
  fail: {
    method: 'post', path: at('/work/{id}/fail'), roles: work, summary: 'Fail an attempt', params: RunParams,
    body: FailRequest, answer: WorkReply,
  },
  release: {
    method: 'post', path: at('/work/{id}/release'), roles: work,
    summary: 'Return a job to the queue; the attempt does not count',
    params: RunParams, body: ReleaseRequest, answer: WorkReply,
  },
  spendLimit: {
    method: 'post', path: at('/work/{id}/spend'), roles: work,
    summary: 'Take more from the rate of a named limit of the job', params: RunParams, body: SpendRequest,
    answer: WorkReply,
  },
});
