/** Time series over HTTP. */
import type { RouteHandlers } from '../handler.ts';

export const seriesRoutes: RouteHandlers<'series'> = {
  async series({ feed, timeSeries }, { query: { range = '1h', type } }) {
    await feed.start();
    return timeSeries.answer(range, type);
  },
};
