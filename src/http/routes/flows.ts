/** Flows over HTTP. */
import type { NamedFlowRun } from '../../engine/declare/named-flow.ts';
import { actor } from '../access/principal.ts';
import { checkPriorityOf } from '../access/priority.ts';
import type { Duration } from '../../time/duration.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { runView } from '../views.ts';
import { act, end, engineRequest, idempotentFor, keyOf } from './runs.ts';

const pageDefault = 100;

type FlowRouteNames =
  | 'createFlow' | 'listFlows' | 'getFlow' | 'getFlowGraph' | 'cancelFlow' | 'stopFlow' | 'retryFlow';

export const flowRoutes: StoreRouteHandlers<FlowRouteNames> = {
  async createFlow({ engine, priorities }, { body: { runs } }, call) {
    const { principal } = call;
    for (const { priority } of runs) checkPriorityOf(principal, priority, priorities);
    const flow = runs.map(({ name, type, def, after, ...request }) =>
      ({ ...engineRequest(request, null), name, type, def, after }) as NamedFlowRun);
    const key = keyOf(call);
    const unique = key === null ? null : { key, for: idempotentFor };
    const { id, outcome, runs: created } = await engine.createNamedFlow({ runs: flow }, actor(principal), unique);
    if (outcome === 'existing') call.status = 200;
    return { id, runs: [...created] };
  },

  async listFlows({ engine }, { query: { limit = 20, after } }) {
    const flows = await engine.flows({ limit, ...(after === undefined ? {} : { before: after }) });
    const items = flows.map(({ created, types, counts, ...flow }) =>
      ({ ...flow, types: [...types], counts: { ...counts }, createdAt: created }));
    return { items, next: flows.length < limit ? null : flows.at(-1)!.id };
  },

  async getFlow({ engine }, { params: { id }, query: { limit = pageDefault, after = 0 } }, { principal: { visibility } }) {
    const { runs, next } = await engine.flow(id, { after, limit });
    return {
      id,
      runs: runs.map(({ job, after: edges }) => ({
        run: runView(job, visibility), after: edges.map(({ followed, outcome }) => ({ id: followed, outcome })),
      })),
      next,
    };
  },

  async getFlowGraph({ engine }, { params: { id } }) {
    const { layers, edges, counts, ...graph } = await engine.flowGraph(id);
    return {
      ...graph,
      counts: { ...counts },
      layers: layers.map((layer) => ({ ...layer, nodes: [...layer.nodes] })),
      edges: [...edges],
    };
  },

  async cancelFlow({ engine }, { params: { id }, body: { why, grace } }, { principal }) {
    const options = { ...end(principal, why), ...(grace === undefined ? {} : { grace: grace as Duration }) };
    return { runs: await engine.cancelFlow(id, options) };
  },

  async stopFlow({ engine }, { params: { id }, body: { why } }, { principal }) {
    return { runs: await engine.stopFlow(id, end(principal, why)) };
  },

  async retryFlow({ engine }, { params: { id }, body: { why } }, { principal }) {
    return { runs: await engine.retryFlow(id, act(principal, why)) };
  },
};
