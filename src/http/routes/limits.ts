/** Named limits over HTTP: list, create, override, pause, reopen and delete them. */
import type { LimitOverride, LimitStatus } from '../../engine/limit-actions.ts';
import type { Duration } from '../../time/duration.ts';
import type { NamedLimitView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { act } from './runs.ts';

type LimitRouteNames = 'listLimits' | 'createLimit' | 'getLimit' | 'overrideLimit' | 'reopenLimit' | 'pauseLimit' | 'resumeLimit'
  | 'resetLimit' | 'deleteLimit';

export const limitRoutes: StoreRouteHandlers<LimitRouteNames> = {
  async listLimits({ engine }) {
    return { items: (await engine.limits()).map(limitView) };
  },

  async createLimit({ engine }, { body: { name, why, ...values } }, { principal }) {
    return limitView(await engine.defineLimit(name, values as LimitOverride, act(principal, why)));
  },

  async getLimit({ engine }, { params: { name } }) {
    return limitView(await engine.limit(name));
  },

  async overrideLimit({ engine }, { params: { name }, body: { why, ...override } }, { principal }) {
    return limitView(await engine.overrideLimit(name, override as LimitOverride, act(principal, why)));
  },

  async reopenLimit({ engine }, { params: { name }, body: { key, why } }, { principal }) {
    return limitView(await engine.reopenLimit(name, { ...act(principal, why), ...(key === undefined ? {} : { key }) }));
  },

  async pauseLimit({ engine }, { params: { name }, body: { why, until } }, { principal }) {
    return limitView(await engine.pauseLimit(name, { ...act(principal, why), why, until }));
  },

  async resumeLimit({ engine }, { params: { name }, body: { why, spread } }, { principal }) {
    return limitView(await engine.resumeLimit(name, { ...act(principal, why), spread: spread as Duration | undefined }));
  },

  async deleteLimit({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.deleteLimit(name, act(principal, why));
    return {};
  },

  async resetLimit({ engine }, { params: { name }, query: { why } }, { principal }) {
    return limitView(await engine.overrideLimit(name, null, act(principal, why)));
  },
};

const limitView = ({ use, ...status }: LimitStatus): NamedLimitView => ({ ...status, use: [...use] });
