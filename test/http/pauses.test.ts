// Pauses over HTTP: by operators, seen by everybody, in the metrics, and for remote workers and Bedrock's names as well.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { api, as, patient, records, world, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world({ engine: { types: [patient] } });
});
afterAll(() => server.close());

const why = 'the bank is down';
const pauses = async (): Promise<unknown[]> => (await server.get(`${api}/pauses`)).body.items;

test('a type is paused with a reason and an end, listed, and resumed', async () => {
  const paused = await server.post(`${api}/types/charge%2Feu/pause`, { why, until: '2h' });
  expect([paused.status, paused.body]).toMatchObject([200, { type: 'charge/eu', key: null, by: 'http:local', why }]);
  expect(Math.round((paused.body.until - paused.body.since) / 60_000)).toBe(120);
  expect(await pauses()).toEqual([paused.body]);
  const { body } = await server.post(`${api}/runs`, { type: 'charge/eu' });
  const reasons = (await server.get(`${api}/runs/${body.id}/explain`)).body.items;
  expect(reasons[0]).toMatchObject({ code: 'paused.type', detail: { by: 'http:local', why } });
  expect((await server.get('/metrics')).body).toContain('stint_pauses{scope="type"} 1\nstint_pauses{scope="key"} 0');
  const claim = { worker: 'remote', types: ['charge/eu'] };
  expect((await server.post(`${api}/work/claim`, claim)).body.items).toEqual([]);
  expect((await server.post(`${api}/types/charge%2Feu/resume`, { why: 'it is back' })).status).toBe(200);
  expect(await pauses()).toEqual([]);
  expect((await server.post(`${api}/work/claim`, claim)).body.items).toMatchObject([{ id: body.id }]);
  const audit = (await server.get(`${api}/audit`)).body.items;
  expect(audit).toMatchObject([
    { action: 'type.resume', why: 'it is back' }, { action: 'type.pause', by: 'http:local', why },
  ]);
});

test.each([
  ['a pause without a reason', 'pause', {}, 400, 'malformed.request'],
  ['a pause of a key of a type without keys', 'pause', { why, key: 'acme' }, 400, 'malformed.option'],
  ['a pause that has ended', 'pause', { why, until: 0 }, 400, 'malformed.time'],
  ['a resume of what is not paused', 'resume', {}, 404, 'unknown.pause'],
])('%s is refused', async (_, action, body, status, code) => {
  const reply = await server.post(`${api}/types/patient/${action}`, body);
  expect([reply.status, reply.body.code]).toEqual([status, code]);
});

test('a viewer sees no secret of a reason, neither among the pauses nor in explain', async () => {
  const own = await world({ access: { tokens: records }, engine: { types: [patient] } });
  onTestFinished(() => own.close());
  await own.post(`${api}/types/patient/pause`, { why: 'password=hunter2 has expired' }, as('operator'));
  const { body } = await own.post(`${api}/runs`, { type: 'patient' }, as('operator'));
  for (const path of ['pauses', `runs/${body.id}/explain`]) {
    const shown = JSON.stringify((await own.get(`${api}/${path}`, as('viewer'))).body);
    expect(shown).toContain('password=[redacted] has expired');
    expect(shown).not.toContain('hunter2');
  }
});
