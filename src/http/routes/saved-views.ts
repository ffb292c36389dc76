/** Saved views over HTTP: list, save, rename and delete them. */
import type { StoreRouteHandlers } from '../handler.ts';
import { act } from './runs.ts';

type SavedViewRouteNames = 'listViews' | 'getView' | 'saveView' | 'renameView' | 'deleteView';

export const savedViewRoutes: StoreRouteHandlers<SavedViewRouteNames> = {
  async listViews({ engine }, { query: { page } }) {
    return { items: [...(await engine.savedViews(page))] };
  },

  async getView({ engine }, { params: { name } }) {
    return engine.savedView(name);
  },

  async saveView({ engine }, { params: { name }, body: { why, version, ...view } }, { principal }) {
    const request = { ...view, ...(version === undefined ? {} : { version }) };
    return engine.saveView(name, request, act(principal, why));
  },

  async renameView({ engine }, { params: { name }, body: { name: renamed, why } }, { principal }) {
    return engine.renameView(name, renamed, act(principal, why));
  },

  async deleteView({ engine }, { params: { name }, query: { why } }, { principal }) {
    await engine.deleteView(name, act(principal, why));
    return {};
  },
};
