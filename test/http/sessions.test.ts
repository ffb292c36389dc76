// Browser sessions: valid on every server and after a restart, until sign-out or the revocation of their token.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TokenRecord } from '../../src/http/access/tokens.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, as, records, tokens, until, world, type World } from './world.ts';

const statusOf = async (server: World, cookie: string): Promise<number> =>
  (await server.get(`${api}/me`, { headers: { cookie } })).status;

async function signIn(server: World, who: keyof typeof tokens): Promise<string> {
  const { headers } = await server.post(`${api}/session`, { token: tokens[who].token });
  return headers.get('set-cookie')!.split(';')[0]!;
}

test.each(['sqlite', 'postgres'])('a session on %s works on every server and survives restarts', async (kind) => {
  const folder = await mkdtemp(join(tmpdir(), 'stint-sessions-'));
  const store = kind === 'sqlite' ? `sqlite:${join(folder, 'jobs.db')}` : await migratedDatabase();
  let valid: readonly TokenRecord[] = records;
  const start = (): Promise<World> => world({ store, isIdle: true, access: { tokens: () => valid } });
  const [first, second] = [await start(), await start()];
  const [vera, olga] = [await signIn(first, 'viewer'), await signIn(second, 'operator')];
  expect([await statusOf(second, vera), await statusOf(first, olga)]).toEqual([200, 200]);
  await Promise.all([first.close(), second.close()]);
  const third = await start();
  expect((await third.get(`${api}/me`, { headers: { cookie: vera } })).body).toMatchObject({ name: 'vera', role: 'viewer' });
  const renewed = (await third.get(`${api}/me`, { headers: { cookie: vera } })).headers.get('set-cookie');
  expect(renewed).toContain(`${vera};`);
  const fourth = await start();
  expect(await statusOf(fourth, olga)).toBe(200);
  await third.send('DELETE', `${api}/session`, undefined, { headers: { cookie: olga } });
  expect(await statusOf(third, olga)).toBe(401);
  await until(async () => (await statusOf(fourth, olga)) === 401);
  valid = records.filter(({ hash }) => hash !== tokens.viewer.record.hash);
  expect([await statusOf(third, vera), await statusOf(fourth, vera)]).toEqual([401, 401]);
  const { body } = await third.get(`${api}/audit`, as('admin'));
  expect(body.items.map(({ action, by }: { action: string; by: string }) => [action, by]))
    .toEqual([['sign out', 'http:olga'], ['sign in', 'http:olga'], ['sign in', 'http:vera']]);
  await Promise.all([third.close(), fourth.close()]);
  await rm(folder, { recursive: true });
});

test('the database holds no secret of a session, and another cookie is refused', async () => {
  const server = await world({ isIdle: true, access: { tokens: records } });
  const cookie = await signIn(server, 'admin');
  const { jobs } = await server.engine.find({ kinds: ['audit'] });
  expect(JSON.stringify(jobs)).not.toContain(cookie.split('=')[1]);
  expect(JSON.stringify(jobs)).not.toContain(tokens.admin.record.hash);
  expect(await statusOf(server, `__Host-stint=${'0'.repeat(64)}`)).toBe(401);
  await server.close();
});
