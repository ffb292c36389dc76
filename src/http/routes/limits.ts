/** Named limits over HTTP: list, create, override, pause, reopen and delete them. */
import type { LimitOverride, LimitStatus } from '../../engine/limit-actions.ts';
import { redactWhy, type Visibility } from '../access/redact.ts';
import type { Duration } from '../../time/duration.ts';
import type { NamedLimitView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { act } from './runs.ts';

type LimitRouteNames = 'listLimits' | 'createLimit' | 'getLimit' | 'overrideLimit' | 'reopenLimit' | 'pauseLimit' | 'resumeLimit'
  | 'resetLimit' | 'deleteLimit';

export const limitRoutes: StoreRouteHandlers<LimitRouteNames> = {
  async listLimits({ engine }, _, { principal: { visibility } }) {
    return { items: (await engine.limits()).map((limit) => limitView(limit, visibility)) };
  },

  async createLimit({ engine }, { body: { name, why, ...values } }, { principal }) {
    return limitView(await engine.defineLimit(name, values as LimitOverride, act(principal, why)), principal.visibility);
  },

  async getLimit({ engine }, { params: { name } }, { principal }) {
    return limitView(await engine.limit(name), principal.visibility);
  },

  async overrideLimit({ engine }, { params: { name }, body: { why, ...override } }, { principal }) {
    return limitView(await engine.overrideLimit(name, override as LimitOverride, act(principal, why)), principal.visibility);
  },

  async reopenLimit({ engine }, { params: { name }, body: { key, why } }, { principal }) {
    return limitView(await engine.reopenLimit(name, { ...act(principal, why), ...(key === undefined ? {} : { key }) }), principal.visibility);
  },

  async pauseLimit({ engine }, { params: { name }, body: { why, until } }, { principal }) {
    return limitView(await engine.pauseLimit(name, { ...act(principal, why), why, until }), principal.visibility);
  },

  async resumeLimit({ engine }, { params: { name }, body: { why, spread } }, { principal }) {
    return limitView(await engine.resumeLimit(name, { ...act(principal, why), spread: spread as Duration | undefined }), principal.visibility);
  },

  async deleteLimit({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.deleteLimit(name, act(principal, why));
    return {};
  },

  async resetLimit({ engine }, { params: { name }, query: { why } }, { principal }) {
    return limitView(await engine.overrideLimit(name, null, act(principal, why)), principal.visibility);
  },
};

const limitView = ({ use, override, paused, spread, ...status }: LimitStatus, visibility: Visibility): NamedLimitView => ({
  ...status,
  override: override && redactWhy(override, visibility),
  paused: paused && redactWhy(paused, visibility),
  spread: spread && redactWhy(spread, visibility),
  use: [...use],
});
