/** The routes of flows: create and read them, and cancel, stop or retry their runs together. */
import { z } from 'zod';
import { Act, CancelRequest, FlowRequest, pageFields, RunParams } from './requests.ts';
import { at, define, operate, produce, readers } from './route.ts';
import { count, instant, pageOf, RunView } from './run-views.ts';
import { standingWords } from './words.ts';

const FlowSummaryView = z
  .object({
    id: z.number().int().meta({ description: 'the id of its first run' }),
    types: z.array(z.string()).meta({ description: 'types of its runs; at most 5' }),
    createdAt: instant,
    counts: z.partialRecord(z.enum(standingWords), count),
    isCut: z.boolean().meta({ description: 'whether it has more runs than the 1,000 that were counted' }),
  })
  .meta({ id: 'FlowSummary' });

const FlowView = z
  .object({
    id: z.number().int(),
    runs: z.array(z.object({
      run: RunView,
      after: z.array(z.object({
        id: z.number().int(),
        outcome: z.enum(['succeeded', 'failed', 'cancelled']).nullable().meta({ description: 'null: the run is open' }),
      })).meta({ description: 'the runs that it follows; at most 1,000, and 10,000 of all runs of the page' }),
    })),
    next: z.number().int().nullable(),
  })
  .meta({ id: 'Flow' });

const FlowGraphView = z
  .object({
    id: z.number().int(),
    runs: count.meta({ description: 'how many runs were read' }),
    isCut: z.boolean().meta({ description: 'whether it has more runs than the 10,000 that were read' }),
    isGrouped: z.boolean().meta({ description: 'whether nodes are groups of runs, because there are too many to show each' }),
    counts: z.partialRecord(z.enum(standingWords), count),
    layers: z.array(z.object({
      from: count.meta({ description: 'the first distance from the start that the layer contains' }),
      to: count,
      nodes: z.array(z.object({
        key: z.string(),
        def: z.string().nullable(),
        type: z.string().nullable().meta({ description: 'null: runs of several types' }),
        standing: z.enum(standingWords),
        count,
        run: z.number().int().meta({ description: 'the run, or the first one of the group' }),
      })),
    })).meta({ description: 'from the runs that follow none to those that follow the most; failed ones first' }),
    edges: z.array(z.object({
      from: z.string(),
      to: z.string(),
      on: z.enum(['succeeded', 'failed', 'ended']),
      outcome: z.enum(['succeeded', 'failed', 'cancelled']).nullable().meta({ description: 'null: the followed run is open' }),
    })),
  })
  .meta({ id: 'FlowGraph' });

const FlowChanged = z.object({ runs: count }).meta({ id: 'FlowChanged' });

const FlowCreated = z
  .object({
    id: z.number().int().meta({ description: 'the id of the flow' }),
    runs: z.array(z.object({ name: z.string(), id: z.number().int() })),
  })
  .meta({ id: 'FlowCreated' });

export const flowRouteTable = define({
  createFlow: {
    method: 'post', path: at('/flows'), roles: produce, status: 201,
    summary: 'Create runs that follow each other, all or none; with the header Idempotency-Key, only once', body: FlowRequest, answer: FlowCreated,
  },
  listFlows: {
    method: 'get', path: at('/flows'), roles: readers, summary: 'List flows, newest first',
    query: z.strictObject({ limit: pageFields.limit, after: pageFields.after }).meta({ id: 'FlowListQuery' }),
    answer: pageOf('FlowPage', FlowSummaryView),
  },
  getFlow: {
    method: 'get', path: at('/flows/{id}'), roles: readers, summary: 'Get the runs of a flow and what each of them follows',
    params: RunParams,
    query: z.strictObject({ limit: pageFields.limit, after: pageFields.after }).meta({ id: 'FlowQuery' }),
    answer: FlowView,
  },
  getFlowGraph: {
    method: 'get', path: at('/flows/{id}/graph'), roles: readers,
    summary: 'Get the graph of a flow: its runs in layers, or groups of them, and the edges between them',
    params: RunParams, answer: FlowGraphView,
  },
  cancelFlow: {
    method: 'post', path: at('/flows/{id}/cancel'), roles: operate, summary: 'Cancel the open runs of a flow',
    params: RunParams, body: CancelRequest, answer: FlowChanged,
  },
  stopFlow: {
    method: 'post', path: at('/flows/{id}/stop'), roles: operate, summary: 'Stop the open runs of a flow',
    params: RunParams, body: Act, answer: FlowChanged,
  },
  retryFlow: {
    method: 'post', path: at('/flows/{id}/retry'), roles: operate,
    summary: 'Retry the runs of a flow that failed or were cancelled by hand',
    params: RunParams, body: Act, answer: FlowChanged,
  },
});
