// Flows over HTTP: create a run that follows another, list and read flows, cancel and retry them as a whole.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { api, as, broken, echo, ended, patient, records, world, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world({ access: { tokens: records }, engine: { types: [echo, broken, patient] } });
});
afterAll(() => server.close());

const asOlga = as('operator');

test('a run is created after another, waits for it, and says so', async () => {
  const first = await server.post(`${api}/runs`, { type: 'patient', delay: '1h' }, asOlga);
  const { status, body } = await server.post(`${api}/runs`, { type: 'echo', input: 1, after: [first.body.id] }, asOlga);
  expect(status).toBe(201);
  expect(body.run).toMatchObject({ state: 'held', hold: 'runs' });
  const reasons = await server.get(`${api}/runs/${body.id}/explain`, asOlga);
  expect(reasons.body.items).toMatchObject([{ code: 'waits.runs', detail: { open: 1, total: 1 } }]);
  expect((await server.post(`${api}/runs`, { type: 'echo', after: [4711] }, asOlga)).body).toMatchObject({ code: 'unknown.job' });
  const both = { type: 'echo', after: [first.body.id], on: 'failed', afterFailure: 'wait' };
  expect((await server.post(`${api}/runs`, both, asOlga)).body).toMatchObject({ code: 'malformed.option' });
});

test('a flow is listed, read, cancelled and retried', async () => {
  const flow = await server.engine.createFlow((f) => {
    f.run(echo, { after: f.run(echo, { delay: '1h' }) });
  });
  const { body: list } = await server.get(`${api}/flows`, asOlga);
  expect(list.items).toMatchObject([{ id: flow.id, types: ['echo'], counts: { pending: 1, held: 1 }, isCut: false }]);
  const { body } = await server.get(`${api}/flows/${flow.id}`, asOlga);
  expect(body).toMatchObject({ runs: [{ after: [] }, { after: [{ id: flow.id, outcome: null }] }], next: null });
  expect((await server.post(`${api}/flows/${flow.id}/cancel`, { why: 'no' }, asOlga)).body).toEqual({ runs: 2 });
  expect((await server.post(`${api}/flows/${flow.id}/retry`, {}, asOlga)).body).toEqual({ runs: 1 });
  await ended({ ...server, get: (path) => server.get(path, asOlga) }, flow.runs[1]!.id);
  const { body: audit } = await server.get(`${api}/audit?limit=2`, asOlga);
  expect(audit.items).toMatchObject([{ action: 'retry flow', job: flow.id }, { action: 'cancel flow', after: { runs: 2 } }]);
  expect((await server.get(`${api}/flows/4711`, asOlga)).status).toBe(404);
  expect((await server.post(`${api}/flows/${flow.id}/stop`, {}, as('viewer'))).status).toBe(403);
});
