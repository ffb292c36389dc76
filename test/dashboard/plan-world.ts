// Data for the pages of plan and machine: types with schemas and limits, ticking schedules, groups of failures.
import { z } from 'zod';
import { cron, every, jobDef, jobType } from '../../src/index.ts';
import { api, ended } from '../http/world.ts';
import { dashboard, type Dashboard } from './world.ts';
import type { WorldOptions } from '../http/world.ts';

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

export const report = jobType('report.build', {
  input: z.object({
    title: z.string().min(1).describe('stands on the first page'),
    format: z.enum(['pdf', 'html']).default('pdf'),
    copies: z.number().int().min(1).max(9).default(1),
    draft: z.boolean().optional(),
    period: z.object({ from: z.string(), to: z.string().optional() }),
    recipients: z.array(z.string()).optional(),
  }),
  concurrency: 5,
  timeout: '2m',
  retry: { attempts: 4 },
  run: ({ input }) => input,
});
export const crawl = jobType('site.crawl', {
  concurrency: 2,
  limit: { key: (input) => (input as { host: string }).host, concurrency: 1 },
  run: ({ signal }) => untilAborted(signal),
});
/** Fails with the message in its input. */
export const fragile = jobType('shop.order', {
  retry: { attempts: 1 },
  run: ({ input }) => {
    throw new Error((input as { says: string }).says);
  },
});
/** Declares settings that a definition of it inherits. */
export const closing = jobType('ledger.close', { onePerType: true, priority: 5, run: () => null });
export const stubborn = jobType('relay.push', {
  retry: { attempts: 9, base: '1h' },
  run: () => {
    throw new Error('connect ECONNREFUSED 10.0.0.7:443');
  },
});

/** Ticks every second; its first run never ends, so the next ones are skipped. */
const poll = jobDef(
  'poll the mirror', crawl, { params: { host: 'mirror.example' }, schedules: [every('1s')], overlap: 'skip' },
);
const berlin = jobDef('monthly report', report, {
  params: { title: 'Month', period: { from: '2026-11-01' } },
  schedules: [cron('30 2 * * *', { zone: 'Europe/Berlin' }), cron('0 18 * * mon-fri', { zone: 'Europe/Berlin' })],
  overlap: 'queue',
});

export async function planBoard(options: WorldOptions = {}): Promise<Dashboard> {
  const board = await dashboard({
    engine: { types: [report, crawl, fragile, stubborn, closing], defs: [poll, berlin], slots: 6 },
    ...options,
  });
  const orders = ['order 17 is gone', 'order 4711 is gone', 'order 4712 is gone', 'the cellar is flooded'];
  const failing = await Promise.all(orders.map((says) => board.start({ type: 'shop.order', input: { says } })));
  await board.start({ type: 'relay.push' });
  await board.start({ type: 'site.crawl', input: { host: 'a.example' } });
  await board.start({ type: 'site.crawl', input: { host: 'a.example' } });
  await board.start({ type: 'legacy.export', delay: '2h' });
  await board.start({ type: 'legacy.export' });
  await Promise.all(failing.map((id) => ended(board, id)));
  const { body } = await board.post(
    `${api}/bulk`,
    { action: 'pause', filter: { type: ['legacy.export'], state: ['pending'] }, why: 'the export moves' },
  );
  await ended(board, body.operation);
  return board;
}
