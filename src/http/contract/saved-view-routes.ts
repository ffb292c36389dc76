/** The routes of saved views. */
import { z } from 'zod';
import { DefParams, name, ReasonQuery, why } from './requests.ts';
import { at, define, Items, operate, readers } from './route.ts';
import { count, instant } from './run-views.ts';
import { Nothing } from './views.ts';
import { savedViewPageWords } from './words.ts';

const page = z.enum(savedViewPageWords).meta({ description: 'the page of the dashboard' });
const query = z.string().min(1).max(2000)
  .meta({ description: 'the query of the URL of the page, without "?", such as search=state%3Afailed' });

export const SavedViewView = z
  .object({
    name: z.string(),
    page,
    query,
    by: z.string().meta({ description: 'who saved it last' }),
    at: instant,
    version: count.meta({ description: 'rises by 1 each time the view is saved' }),
  })
  .meta({ id: 'SavedView' });
export type SavedViewView = z.infer<typeof SavedViewView>;

const SavedViewRequest = z
  .strictObject({
    page,
    query,
    version: z.number().int().min(0).optional().meta({
      description: 'the version that was read, or 0 for a new view: refused if it has another one; absent: replaces the view',
    }),
    why: why.optional(),
  })
  .meta({ id: 'SavedViewRequest' });

const SavedViewRenaming = z.strictObject({ name, why: why.optional() }).meta({ id: 'SavedViewRenaming' });

export const savedViewRouteTable = define({
  listViews: {
    method: 'get', path: at('/views'), roles: readers, summary: 'List the saved views of the dashboard, at most 200',
    query: z.strictObject({ page: page.optional() }).meta({ id: 'SavedViewsQuery' }),
    answer: Items('SavedViews', SavedViewView),
  },
  getView: {
    method: 'get', path: at('/views/{name}'), roles: readers, summary: 'Get a saved view', params: DefParams,
    answer: SavedViewView,
  },
  saveView: {
    method: 'put', path: at('/views/{name}'), roles: operate, summary: 'Save a view of a list page, for everybody',
    params: DefParams, body: SavedViewRequest, answer: SavedViewView,
  },
  renameView: {
    method: 'post', path: at('/views/{name}/rename'), roles: operate, summary: 'Give a saved view another name',
    params: DefParams, body: SavedViewRenaming, answer: SavedViewView,
  },
  deleteView: {
    method: 'delete', path: at('/views/{name}'), roles: operate, summary: 'Delete a saved view', params: DefParams,
    query: ReasonQuery, answer: Nothing,
  },
});
