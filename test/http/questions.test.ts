// Questions over HTTP: listed, answered by roles, and answered once with the token of a link.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { routes } from '../../src/http/contract.ts';
import { jobType } from '../../src/index.ts';
import { api, as, records, until, world, type World } from './world.ts';

const tokens: string[] = [];
const refund = jobType('refund', {
  run: ({ waitFor, step }) => waitFor('ok', {
    ask: 'Refund 7 €?', schema: z.object({ ok: z.boolean() }), timeout: '7d', notBy: 'bob', notify: ({ token }) => void tokens.push(token),
  }).then(({ ok }) => step('done', () => ok)),
});

let server: World;
beforeAll(async () => {
  server = await world({ engine: { types: [refund] }, access: { tokens: records } });
});
afterAll(() => server.close());

async function waiting(): Promise<number> {
  const { id } = (await server.post(`${api}/runs`, { type: 'refund' }, as('producer'))).body as { id: number };
  await until(async () => (await server.engine.explain(id))[0]?.code === 'waits.answer');
  return id;
}

test('an operator finds and answers a question; others are refused, and the wait goes on', async () => {
  const id = await waiting();
  const list = await server.get(`${api}/questions?limit=1`, as('viewer'));
  expect(routes.listQuestions.answer.parse(list.body)).toEqual(list.body);
  expect(list.body).toMatchObject({
    items: [{ run: id, type: 'refund', name: 'ok', ask: 'Refund 7 €?', role: 'operator', schema: { properties: { ok: { type: 'boolean' } } } }],
    next: `${id}:ok`,
  });
  expect((await server.get(`${api}/questions?after=${id}:ok`, as('viewer'))).body).toEqual({ items: [], next: null });
  const answer = (value: unknown, role: 'viewer' | 'producer' | 'operator') =>
    server.post(`${api}/runs/${id}/answer`, { name: 'ok', value }, as(role));
  expect((await answer({ ok: true }, 'viewer')).status).toBe(403);
  expect(await answer({ ok: true }, 'producer')).toMatchObject({ status: 403, body: { code: 'forbidden.answer' } });
  expect(await answer({ ok: 7 }, 'operator')).toMatchObject({ status: 400, body: { code: 'malformed.answer' } });
  expect((await answer({ ok: true }, 'operator')).status).toBe(200);
  await until(async () => (await server.engine.get(id)).state === 'ended');
  expect((await answer({ ok: true }, 'operator')).status, 'a request that is sent again').toBe(200);
  expect(await answer({ ok: false }, 'operator')).toMatchObject({ status: 409 });
  expect((await server.get(`${api}/runs/${id}/steps`, as('admin'))).body).toMatchObject({
    items: [{ name: 'ok', kind: 'wait', result: { value: { ok: true }, role: 'operator' } }, { name: 'done', kind: 'step' }],
  });
});

test('a producer answers only the runs that it has created', async () => {
  const { id } = await server.engine.createJobRun(refund, { delay: '1h' });
  const early = await server.post(`${api}/runs/${id}/answer`, { name: 'ok', value: { ok: true } }, as('producer'));
  expect(early).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  expect(await server.engine.steps(id)).toEqual([]);
  const { id: own } = (await server.post(`${api}/runs`, { type: 'refund', delay: '1h' }, as('producer'))).body as { id: number };
  expect((await server.post(`${api}/runs/${own}/answer`, { name: 'ok', value: 1 }, as('producer'))).status).toBe(200);
});

test('who must not answer is shown neither to callers who do not see payloads nor to links', async () => {
  const id = await waiting();
  const listed = async (role: 'viewer' | 'admin') => {
    const { items } = (await server.get(`${api}/questions`, as(role))).body as { items: { run: number; notBy: string[] }[] };
    return items.find(({ run }) => run === id)!.notBy;
  };
  expect([await listed('admin'), await listed('viewer')]).toEqual([['bob'], []]);
  expect((await server.post(`${api}/answers/question`, { token: tokens.at(-1)! })).body).toMatchObject({ run: id, notBy: [] });
  expect((await server.post(`${api}/runs/${id}/answer`, { name: 'ok', value: { ok: true } }, as('operator'))).status).toBe(200);
});

test('a cursor that is not a name is refused', async () => {
  for (const name of ['%00', '%07', 'x'.repeat(256)]) {
    const listed = await server.get(`${api}/questions?after=1:${name}`, as('viewer'));
    expect(listed, name).toMatchObject({ status: 400 });
  }
});

test('the token of a link shows and answers its question without signing in, once', async () => {
  const id = await waiting();
  const token = tokens.at(-1)!;
  const shown = await server.post(`${api}/answers/question`, { token });
  expect(shown).toMatchObject({ status: 200, body: { run: id, ask: 'Refund 7 €?' } });
  const wrong = `${id}.${'0'.repeat(32)}`;
  expect(await server.post(`${api}/answers/question`, { token: wrong })).toMatchObject({ status: 404, body: { code: 'unknown.wait' } });
  expect((await server.post(`${api}/answers`, { token, value: { ok: 1 } })).status).toBe(400);
  expect((await server.post(`${api}/answers`, { token, value: { ok: false } })).status).toBe(200);
  await until(async () => (await server.engine.get(id)).state === 'ended');
  expect(await server.post(`${api}/answers`, { token, value: { ok: true } })).toMatchObject({ status: 404, body: { code: 'unknown.wait' } });
  expect((await server.engine.get(id)).result).toBe('false');
});
