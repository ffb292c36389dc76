// Slow and idle sockets: the server answers other clients, closes the slow ones and keeps the idle ones.
import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { bySize } from '../support/size.ts';
import { world } from './world.ts';

const slow = bySize({ small: 100, ci: 2_000 });

test(`${slow} slow sockets do not delay other clients and are closed`, async () => {
  const server = await world({ isIdle: true });
  const { hostname, port } = new URL(server.url);
  const closed: Promise<void>[] = [];
  const open = (): Promise<Socket> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
      socket.on('error', () => {});
      closed.push(new Promise((gone) => socket.once('close', () => gone())));
      socket.resume();
      socket.write('POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    });
  const sockets = await Promise.all(Array.from({ length: slow }, open));
  for (const socket of sockets) socket.write('a');
  const answers = await Promise.all(Array.from({ length: 100 }, () => server.get('/health')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  await Promise.all(closed);
  expect((await server.get('/health')).status).toBe(200);
  await server.close();
});

test('idle connections stay open for longer than those of proxies', async () => {
  const server = await world({ isIdle: true });
  const { headers } = await server.get('/health');
  expect(headers.get('keep-alive')).toBe('timeout=75');
  await server.close();
});
