// A server that is killed during a bulk operation: the next server continues it.
import { expect } from 'vitest';
import { detail } from '../support/detail.ts';
import { Place, type Started } from './stint.ts';

const count = 400;
const words = ['serve', '--http', '127.0.0.1:0', '--bedrock', 'off', '--lease', '1s'];

interface Serving {
  readonly server: Started;
  ask<T>(path: string, body?: unknown): Promise<T>;
}

async function serve(place: Place): Promise<Serving> {
  const server = place.start(...words);
  const [, url] = await server.says(/HTTP +(\S+)/);
  return {
    server,
    async ask<T>(path: string, body?: unknown): Promise<T> {
      const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${url}/api/v1${path}`, body === undefined ? {} : post);
      expect(response.status).toBeLessThan(300);
      return (await response.json()) as T;
    },
  };
}

const cancelled = async (serving: Serving): Promise<number> =>
  (await serving.ask<{ total: number }>('/runs/count?type=later&state=cancelled')).total;

async function until<T>(look: () => Promise<T>, isThere: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await look();
    if (isThere(found)) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

detail('a bulk operation whose server is killed three times completes and acts on each run once', async () => {
  using place = new Place();
  let serving = await serve(place);
  const later = { type: 'later', dueTime: '2099-01-01T00:00:00Z' };
  const created = await Promise.all(Array.from({ length: count }, () => serving.ask<{ id: number }>('/runs', later)));
  const ask = { action: 'cancel', filter: { type: ['later'] }, why: 'kill test' };
  const { operation } = await serving.ask<{ operation: number }>('/bulk', ask);
  for (const share of [0.05, 0.4, 0.8]) {
    await until(
      () => cancelled(serving),
      (done) => done >= count * share,
    );
    await serving.server.kill();
    serving = await serve(place);
    // The operation exists at any moment, open or ended.
    const { type, state } = await serving.ask<{ type: string; state: string }>(`/runs/${operation}`);
    expect([type, ['pending', 'running', 'ended'].includes(state)]).toEqual(['stint.bulk', true]);
  }
  type Run = { standing: string; result: { done: number; refused: object } };
  const ended = await until(
    () => serving.ask<Run>(`/runs/${operation}`),
    ({ standing }) => standing === 'succeeded',
  );
  expect(ended.result).toEqual({ done: count, refused: {} });
  expect(await cancelled(serving)).toBe(count);
  for (const { id } of created.slice(0, 20)) {
    const { items } = await serving.ask<{ items: { kind: string; why: string | null }[] }>(`/runs/${id}/events`);
    expect(items.map(({ kind, why }) => [kind, why])).toEqual([
      ['created', null],
      ['cancelled', `kill test (operation ${operation})`],
    ]);
  }
  const verified = await (async () => {
    await serving.server.stop();
    return place.stint('verify');
  })();
  expect(verified.code, verified.out + verified.err).toBe(0);
});
