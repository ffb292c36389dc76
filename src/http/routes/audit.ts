/** The audit over HTTP: what operators did. */
import type { Handling } from '../handler.ts';
import { redact } from '../access/redact.ts';
import { pageOf } from './runs.ts';

export const auditRoutes: Handling<'audit'> = {
  async audit({ engine }, { query: { action, job, by, ...page } }, { principal: { sight } }) {
    const { records, next } = await engine.jobs.audited({ action, job, by }, pageOf(page));
    const items = records.map((record) => ({
      ...record,
      before: redact(record.before, sight),
      after: redact(record.after, sight),
    }));
    return { items, next };
  },
};
