/**
 * The HTTP server of a process that has no other: `/` answers while the process responds, `/health` says whether its
 * store accepts writes. Everyone may ask, since no answer contains data of jobs.
 */
import type { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';
import { HealthCheck, healthOf } from './health-check.ts';
import { listen, type Listening } from './listen.ts';

interface HealthServerOptions {
  readonly store: Pick<Store, 'lead'>;
  readonly host: string;
  readonly port: number;
}

export function startHealthServer({ store, host, port }: HealthServerOptions): Promise<Listening> {
  const check = new HealthCheck(store, systemClock);
  return listen(async ({ url }) => {
    const { pathname } = new URL(url);
    if (pathname === '/health') return healthResponse(check);
    return pathname === '/' ? new Response('stint\n') : new Response('not found\n', { status: 404 });
  }, host, port, undefined);
}

async function healthResponse(check: HealthCheck): Promise<Response> {
  const health = await healthOf(check);
  return Response.json(health, { status: health.status === 'ok' ? 200 : 503 });
}
