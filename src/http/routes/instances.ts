/** Commands to instances over HTTP: drain and resume. */
import type { StoreRouteHandlers } from '../handler.ts';
import { act } from './runs.ts';

export const instanceRoutes: StoreRouteHandlers<'drainInstance' | 'resumeInstance'> = {
  async drainInstance({ engine }, { params: { id }, body: { why } }, { principal }) {
    return { order: await engine.order(id, 'drain', act(principal, why)) };
  },

  async resumeInstance({ engine }, { params: { id }, body: { why } }, { principal }) {
    return { order: await engine.order(id, 'resume', act(principal, why)) };
  },
};
