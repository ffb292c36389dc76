/** One job type over HTTP: its settings and the schema of its input. */
import type { RouteHandlers } from '../handler.ts';
import { typeDetail } from '../type-views.ts';

export const typeRoutes: RouteHandlers<'getType'> = {
  getType: ({ engine }, { params: { name } }) => typeDetail(engine, name),
};
