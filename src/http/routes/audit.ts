/** The audit over HTTP: lists who did what, when and why. */
import type { StoreRouteHandlers } from '../handler.ts';
import { redact } from '../access/redact.ts';
import { pageOf } from './runs.ts';

export const auditRoutes: StoreRouteHandlers<'audit'> = {
  async audit({ engine }, { query: { action, job, by, ...page } }, { principal: { visibility } }) {
    const { records, next } = await engine.jobs.audited({ action, job, by }, pageOf(page));
    const items = records.map((record) => ({
      ...record,
      before: redact(record.before, visibility),
      after: redact(record.after, visibility),
    }));
    return { items, next };
  },
};
