// Who may end a run, and as what: the code of administrators, runs of one's own, and jobs that were handed off.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { newToken } from '../../src/http/access/tokens.ts';
import { api, as, records, until, world, type World } from './world.ts';

const handed: string[] = [];
const approval = jobType('approval', {
  retry: { attempts: 1 },
  run: ({ handOff }) => {
    const out = handOff({ within: '1h' });
    handed.push(out.token);
    return out;
  },
});
const other = newToken({ name: 'petra', role: 'producer' });
const asOther = { headers: { authorization: `Bearer ${other.token}` } };

let server: World;
beforeAll(async () => {
  const { echo, patient } = await import('./world.ts');
  server = await world({ engine: { types: [approval, echo, patient] }, access: { tokens: [...records, other.record] } });
});
afterAll(() => server.close());

const create = async (type: string, who = as('producer')): Promise<number> =>
  (await server.post(`${api}/runs`, { type, ...(type === 'echo' ? { delay: '1h' } : {}) }, who)).body.id as number;

describe('a cancel', () => {
  test.each([['admin', 'admin'], ['operator', 'user']] as const)('by an %s has the code %s', async (role, code) => {
    const [one, two] = [await create('echo'), await create('echo')];
    const cancelled = await server.post(`${api}/runs/${one}/cancel`, {}, as(role));
    const stopped = await server.post(`${api}/runs/${two}/stop`, {}, as(role));
    expect([cancelled.body.standing, stopped.body.run.standing]).toEqual(['cancelled', 'cancelled']);
    for (const id of [one, two]) {
      expect((await server.engine.history(id)).at(-1)).toMatchObject({ kind: 'cancelled', code });
    }
  });

  test('of many by an admin has the code admin', async () => {
    const id = await create('echo');
    await server.post(`${api}/bulk`, { action: 'cancel', filter: { type: ['echo'], state: ['open'] } }, as('admin'));
    await until(async () => (await server.engine.get(id)).state === 'ended');
    expect((await server.engine.history(id)).at(-1)).toMatchObject({ kind: 'cancelled', code: 'admin' });
  });

  test('by a producer reaches its own runs, and no others', async () => {
    const [own, foreign] = [await create('patient'), await create('patient', asOther)];
    expect((await server.get(`${api}/runs/${own}`, as('producer'))).body.createdBy).toBe('http:paul');
    expect((await server.post(`${api}/runs/${foreign}/cancel`, {}, as('producer'))).status).toBe(403);
    expect((await server.post(`${api}/runs/${own}/cancel`, {}, as('producer'))).status).toBe(200);
    await until(async () => (await server.engine.get(own)).state === 'ended');
    expect((await server.engine.get(foreign)).state).not.toBe('ended');
    expect((await server.post(`${api}/runs/${foreign}/cancel`, {}, as('viewer'))).status).toBe(403);
    expect((await server.post(`${api}/runs/${foreign}/stop`, {}, asOther)).status).toBe(403);
    await server.post(`${api}/runs/${foreign}/cancel`, {}, asOther);
  });
});

describe('a job that was handed off', () => {
  const handOff = async (): Promise<{ id: number; token: string }> => {
    const id = await create('approval');
    await until(async () => (await server.get(`${api}/runs/${id}`, as('viewer'))).body.isHandedOff === true);
    return { id, token: handed.find((token) => token.startsWith(`${id}.`))! };
  };

  test('is completed and failed with its token alone', async () => {
    const [first, second] = [await handOff(), await handOff()];
    const done = await server.post(`${api}/handoffs/complete`, { token: first.token, result: { ok: true } });
    expect(done.body).toEqual({ id: first.id, standing: 'succeeded', isCancelled: false });
    expect((await server.get(`${api}/runs/${first.id}`, as('operator'))).body.result).toEqual({ ok: true });
    await server.post(`${api}/handoffs/fail`, { token: second.token, error: { message: 'declined' } });
    expect((await server.get(`${api}/runs/${second.id}`, as('operator'))).body.error.message).toBe('declined');
    expect((await server.post(`${api}/handoffs/complete`, { token: first.token })).status).toBe(409);
  });

  test('is completed and failed by an operator, which the audit records', async () => {
    const [first, second] = [await handOff(), await handOff()];
    const done = await server.post(`${api}/runs/${first.id}/complete`, { result: 1, why: 'by phone' }, as('operator'));
    expect(done.body).toMatchObject({ standing: 'succeeded', isHandedOff: false });
    const failed = await server.post(`${api}/runs/${second.id}/fail`, { error: { message: 'no' } }, as('operator'));
    expect(failed.body).toMatchObject({ standing: 'failed', error: { message: 'no' } });
    const { body } = await server.get(`${api}/audit?job=${first.id}`, as('operator'));
    expect(body.items[0]).toMatchObject({ action: 'complete', by: 'http:olga', why: 'by phone' });
    expect((await server.post(`${api}/runs/${first.id}/complete`, {}, as('operator'))).body.code).toBe('wrong.state');
  });

  test('is not finished by a guess, and guesses are throttled', async () => {
    const { id, token } = await handOff();
    const { fence } = await server.engine.get(id);
    const ask = async (guess: string): Promise<number> =>
      (await server.post(`${api}/handoffs/complete`, { token: guess })).status;
    expect(await ask(`${id}.${fence}`)).toBe(400);
    const statuses: number[] = [];
    for (let n = 0; n < 25; n++) statuses.push(await ask(`${id}.${fence}.${String(n).padStart(32, '0')}`));
    expect(statuses[0]).toBe(409);
    expect(statuses.at(-1)).toBe(429);
    expect(await ask(token)).toBe(200);
  });
});

test('a caller does not finish a job that a caller with a longer name holds', async () => {
  const authenticate = (request: Request) => ({ name: request.headers.get('x-user')!, role: 'worker' as const });
  const own = await world({ engine: { types: [] }, access: { authenticate } });
  await own.engine.jobs.create({ type: 'far' }, 'test');
  const by = (name: string) => ({ headers: { 'x-user': name } });
  const claim = await own.post(`${api}/work/claim`, { worker: 'w', types: ['far'] }, by('a/b'));
  const { id, fence } = claim.body.items[0] as { id: number; fence: number };
  expect((await own.post(`${api}/work/${id}/complete`, { fence }, by('a'))).status).toBe(409);
  expect((await own.post(`${api}/work/${id}/complete`, { fence }, by('a/b'))).body.standing).toBe('succeeded');
  await own.close();
});
