// Access control: every route of the contract is tried with every role.
import { once } from 'node:events';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Client } from '../../src/client/client.ts';
import { checkBind, mayUse } from '../../src/http/access/access.ts';
import { roles } from '../../src/http/contract.ts';
import type { ListenOptions } from '../../src/http/listen.ts';
import { createHttp } from '../../src/http/server.ts';
import { startHttp } from '../../src/http/start.ts';
import { selfSigned } from '../support/certificate.ts';
import { newToken, readTokens } from '../../src/http/access/tokens.ts';
import { api, as, everyRoute, pathOf, records, tokens, world, type World } from './world.ts';

let guarded: World;
let open: World;
beforeAll(async () => {
  guarded = await world({ access: { tokens: records }, isIdle: true });
  open = await world({ isIdle: true });
});
afterAll(async () => {
  await guarded.close();
  await open.close();
});

interface StartRow extends ListenOptions {
  readonly tokens?: typeof records;
}

const closed = everyRoute.filter(([, route]) => route.roles !== null);
const bodyFor = (method: string): unknown => (method === 'get' ? undefined : {});

describe('every route of the contract', () => {
  test.each(closed)('%s answers 401 without a token', async (_, route) => {
    const reply = await guarded.send(route.method.toUpperCase(), pathOf(route), bodyFor(route.method));
    expect(reply.status).toBe(401);
    expect(reply.body.code).toBe('unauthenticated');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  test.each(closed)('%s answers 403 to every role that is not allowed', async (_, route) => {
    const low = roles.filter((role) => !mayUse(role, route));
    for (const role of low) {
      const reply = await guarded.send(route.method.toUpperCase(), pathOf(route), bodyFor(route.method), as(role));
      expect([role, reply.status, reply.body.code]).toEqual([role, 403, 'forbidden']);
    }
  });

  test.each(closed.filter(([, { as: kind }]) => kind !== 'events'))('%s does not refuse the allowed roles', async (name, route) => {
    for (const role of roles.filter((each) => mayUse(each, route))) {
      const reply = await guarded.send(route.method.toUpperCase(), pathOf(route), bodyFor(route.method), as(role));
      expect([name, role, [401, 403].includes(reply.status)]).toEqual([name, role, false]);
      expect(reply.status).toBeLessThan(500);
    }
  });

  test('only health, sign-in and the tokens of handOff and of questions are open to everyone', () => {
    expect(everyRoute.filter(([, { roles: needed }]) => needed === null).map(([name]) => name)).toEqual(['health', 'signIn', 'completeHandOff', 'failHandOff', 'getLinkQuestion', 'answerByLink']);
  });
});

/** Written by hand, so that a change of the contract does not change what is expected of it. */
describe('the roles in the contract', () => {
  const onlyFor = (role: (typeof roles)[number], ...others: readonly (typeof roles)[number][]): string[] =>
    everyRoute
      .filter(([, route]) => route.roles !== null && mayUse(role, route) && !others.some((other) => mayUse(other, route)))
      .map(([name]) => name);

  test('let a worker only work, and nobody but workers and admins', () => {
    const work = [
      'claim', 'heartbeat', 'tellProgress', 'tellLog', 'createChildren', 'complete', 'fail', 'release', 'spendLimit',
    ];
    expect(onlyFor('worker').sort()).toEqual([...work, 'signOut', 'me'].sort());
    expect(onlyFor('worker', 'operator', 'viewer', 'producer').sort()).toEqual(work.sort());
  });

  test('let a producer create runs, read them one by one, and cancel and answer its own', () => {
    expect(onlyFor('producer').sort()).toEqual([
      'answerRun', 'cancelRun', 'createFlow', 'createRun', 'getOutput', 'getRun', 'me', 'runDef', 'signOut', 'streamOutput',
    ]);
  });

  test('let a viewer change nothing, and read neither tokens nor the audit', () => {
    const viewed = everyRoute.filter(([, route]) => route.roles !== null && mayUse('viewer', route));
    expect(viewed.filter(([, { method }]) => method !== 'get').map(([name]) => name).sort())
      .toEqual(['previewSchedule', 'signOut']);
    expect(onlyFor('operator', 'viewer', 'producer')).toContain('audit');
    expect(onlyFor('admin', 'operator', 'worker')).toEqual(['listTokens']);
  });
});

describe('a path outside the contract', () => {
  test.each(['/api/v1/nothing', '/api/v2/runs', '/api/v1/runs/1/nothing', '/nothing.js'])('%s answers 401 without a token and 404 with one', async (path) => {
    expect((await guarded.get(path)).status).toBe(401);
    expect((await guarded.get(path, as('admin'))).status).toBe(404);
  });

  test('a method that the route does not support has no effect', async () => {
    expect((await guarded.send('PUT', `${api}/runs`, {}, as('admin'))).status).toBe(404);
  });
});

describe('access tokens', () => {
  test('that are wrong, truncated or of another scheme get the same answer', async () => {
    const { token } = tokens.admin;
    const said = [`Bearer ${token.slice(0, -1)}0x`, `Bearer ${token}x`, `Basic ${token}`, 'Bearer', ''];
    for (const authorization of said) {
      const reply = await guarded.get(`${api}/me`, { headers: { authorization } });
      expect([reply.status, reply.body.detail]).toEqual([401, 'a valid token is required: Authorization: Bearer …']);
    }
  });

  test('are listed for an admin with the time of their last use and without secrets', async () => {
    const made = newToken({ name: 'ci', role: 'producer', created: 1_000, expires: 4_000_000_000_000 });
    const admin = newToken({ name: 'ada', role: 'admin' });
    const server = await world({ access: { tokens: [made.record, admin.record] }, isIdle: true });
    onTestFinished(() => server.close());
    const asAda = { headers: { authorization: `Bearer ${admin.token}` } };
    const before = Date.now();
    const { body } = await server.get(`${api}/tokens`, asAda);
    expect(body.items).toEqual([
      { name: 'ci', role: 'producer', seesPayloads: false, created: 1_000, expires: 4_000_000_000_000, priorityMax: null, lastUsed: null },
      {
        name: 'ada', role: 'admin', seesPayloads: true, created: null, expires: null, priorityMax: null, lastUsed: expect.any(Number) as
        number,
      },
    ]);
    expect(body.items[1].lastUsed).toBeGreaterThanOrEqual(before);
    await server.get(`${api}/me`, { headers: { authorization: `Bearer ${made.token}` } });
    expect((await server.get(`${api}/tokens`, asAda)).body.items[0].lastUsed).toBeGreaterThanOrEqual(before);
    const client = new Client({ url: server.url, token: admin.token });
    expect((await client.call('listTokens')).items.map(({ name }) => name)).toEqual(['ci', 'ada']);
  });

  test('are an empty list on a server without tokens', async () => {
    expect((await open.get(`${api}/tokens`)).body).toEqual({ items: [] });
  });

  test('that have expired are refused', async () => {
    const old = newToken({ name: 'old', role: 'admin', expires: Date.now() - 1 });
    const over = await world({ access: { tokens: [old.record] }, isIdle: true });
    onTestFinished(() => over.close());
    expect((await over.get(`${api}/me`, { headers: { authorization: `Bearer ${old.token}` } })).status).toBe(401);
  });

  test('are unique, and their record does not contain them', () => {
    const [one, two] = [newToken({ name: 'a', role: 'viewer' }), newToken({ name: 'a', role: 'viewer' })];
    expect(one.token).not.toBe(two.token);
    expect(one.token).toMatch(/^stint_[0-9a-f]{8}_[0-9a-f]{64}$/);
    expect(JSON.stringify(one.record)).not.toContain(one.token);
  });

  test('are read from JSON as hash or plain text, and malformed JSON is refused', () => {
    const { record } = tokens.viewer;
    const [byHash, plain] = readTokens(JSON.stringify([
      { name: 'vera', role: 'viewer', hash: record.hash, expires: '2030-01-01T00:00:00Z' },
      { name: 'plain', role: 'worker', token: 'x'.repeat(40) },
    ]));
    expect(byHash).toMatchObject({ hash: record.hash, expires: Date.UTC(2030, 0, 1), seesPayloads: false });
    expect(JSON.stringify(plain)).not.toContain('x'.repeat(40));
    for (const bad of ['[', '[{}]', '[{"name":"a","role":"king","hash":"00"}]', '[{"name":"a","role":"viewer"}]', '[{"name":"a","role":"viewer","token":"short"}]']) {
      expect(() => readTokens(bad)).toThrow('cannot read the tokens');
    }
  });

  test('are throttled after too many wrong ones from one address', async () => {
    const own = await world({ access: { tokens: records }, isIdle: true });
    onTestFinished(() => own.close());
    const wrong = { headers: { authorization: 'Bearer wrong' } };
    for (let tries = 0; tries < 20; tries++) expect((await own.get(`${api}/me`, wrong)).status).toBe(401);
    const reply = await own.get(`${api}/me`, wrong);
    expect([reply.status, reply.body.code]).toEqual([429, 'too.many']);
    expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await own.post(`${api}/session`, { token: 'wrong' })).status).toBe(429);
    expect((await own.get(`${api}/me`, as('admin'))).status).toBe(200);
  });

  test('can be exchanged for a browser session that scripts cannot read, and that can be ended', async () => {
    const signedIn = await guarded.post(`${api}/session`, { token: tokens.operator.token });
    expect(signedIn.body).toMatchObject({ name: 'olga', role: 'operator', seesPayloads: true });
    const cookie = signedIn.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^__Host-stint=[0-9a-f]{64}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=\d+$/);
    const shown = { headers: { cookie: cookie.split(';')[0]! } };
    expect((await guarded.get(`${api}/me`, shown)).body.name).toBe('olga');
    expect((await guarded.send('DELETE', `${api}/session`, undefined, shown)).headers.get('set-cookie')).toContain('Max-Age=0');
    expect((await guarded.get(`${api}/me`, shown)).status).toBe(401);
    expect((await guarded.post(`${api}/session`, { token: 'wrong' })).status).toBe(401);
  });
});

describe('the address of the caller', () => {
  test('on this machine makes it an admin if the server has no tokens', async () => {
    expect((await open.get(`${api}/me`)).body).toEqual({ name: 'local', role: 'admin', isLocal: true, seesPayloads: true, expires: null, priorityMax: null });
  });

  test('that the mounting server does not pass on is never local', async () => {
    const response = await open.http.fetch(new Request('http://127.0.0.1/api/v1/me'));
    expect(response.status).toBe(401);
  });

  test.each([
    ['127.0.0.1', false, false, false, true],
    ['localhost', false, false, false, true],
    ['::1', false, false, false, true],
    ['0.0.0.0', false, false, false, false],
    ['0.0.0.0', false, true, true, false],
    ['0.0.0.0', true, false, false, false],
    ['0.0.0.0', true, true, false, true],
    ['0.0.0.0', true, false, true, true],
    ['192.168.1.5', false, true, false, false],
    ['::', false, false, true, false],
    ['example.org', false, false, false, false],
  ])('a bind to %s (auth %s, TLS %s, insecure %s): %s', (host, isSetUp, hasTls, isInsecure, isAllowed) => {
    const bind = (): void => checkBind({ host, isSetUp, hasTls, isInsecure });
    if (isAllowed) expect(bind).not.toThrow();
    else expect(bind).toThrow('cannot listen');
  });

  const tls = selfSigned();
  test.each([
    ['127.0.0.1', {}, undefined],
    ['127.0.0.1', { tls }, undefined],
    ['0.0.0.0', {}, 'anybody could run jobs'],
    ['0.0.0.0', { tls }, 'anybody could run jobs'],
    ['0.0.0.0', { isInsecure: true }, 'anybody could run jobs'],
    ['0.0.0.0', { isBehindTls: true }, 'anybody could run jobs'],
    ['0.0.0.0', { tokens: records }, 'without TLS'],
    ['0.0.0.0', { tokens: records, tls }, undefined],
    ['0.0.0.0', { tokens: records, isBehindTls: true }, undefined],
    ['0.0.0.0', { tokens: records, isInsecure: true }, undefined],
  ])('a server on %s with %o starts or is refused', async (host, { tokens: known, ...how }: StartRow, refusal) => {
    const http = createHttp({ engine: open.engine, dashboard: null, access: { tokens: known ?? [] } });
    onTestFinished(() => http.close());
    const listening = http.listen({ host, port: 0, ...how });
    if (refusal === undefined) expect((await listening).url).toMatch(how.tls ? /^https:/ : /^http:/);
    else await expect(listening).rejects.toThrow(refusal);
  });

  test('may be hidden from others on the way: TLS 1.2 and 1.3 are spoken, and nothing older', async () => {
    const http = createHttp({ engine: open.engine, dashboard: null });
    onTestFinished(() => http.close());
    const { port } = await http.listen({ port: 0, tls });
    const spoken = async (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<string | null> => {
      // At level 0 our own side would speak TLS 1.1.
      const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' });
      await once(socket, 'secureConnect').catch(() => null);
      const version = socket.authorizationError === null || socket.getCipher() === undefined ? null : socket.getProtocol();
      socket.destroy();
      return version;
    };
    expect([await spoken('TLSv1.1'), await spoken('TLSv1.2'), await spoken('TLSv1.3')]).toEqual([null, 'TLSv1.2', 'TLSv1.3']);
  });

  test('startHttp accepts tokens as JSON and refuses to listen publicly without any', async () => {
    const said = JSON.stringify([{ name: 'ada', role: 'admin', hash: tokens.admin.record.hash }]);
    const started = await startHttp({ engine: open.engine, port: 0, tokens: said });
    onTestFinished(() => started.close());
    expect((await fetch(`${started.url}${api}/me`)).status).toBe(401);
    expect((await fetch(`${started.url}${api}/me`, as('admin'))).status).toBe(200);
    await expect(startHttp({ engine: open.engine, host: '0.0.0.0', port: 0, tokens: '' })).rejects.toThrow('anybody');
  });

  test('a public listener without tokens is refused', async () => {
    await expect(open.http.listen({ host: '0.0.0.0', port: 0, isInsecure: true })).rejects.toThrow('anybody could run jobs');
  });
});

test('a browser session ends when its token is revoked', async () => {
  let known = records;
  const own = await world({ access: { tokens: () => known }, isIdle: true });
  onTestFinished(() => own.close());
  const { headers } = await own.post(`${api}/session`, { token: tokens.operator.token });
  const shown = { headers: { cookie: headers.get('set-cookie')!.split(';')[0]! } };
  expect((await own.get(`${api}/me`, shown)).status).toBe(200);
  known = records.filter(({ name }) => name !== 'olga');
  expect((await own.get(`${api}/me`, shown)).status).toBe(401);
});
