// Commands to instances: drain and resume, also for an instance without free slots.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Engine } from '../../src/index.ts';
import { routes } from '../../src/http/contract.ts';
import { slowness } from '../support/patience.ts';
import { api, ended, patient, world, type World } from './world.ts';

let folder: string;
let server: World;
let other: Engine;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stint-orders-'));
  const store = `sqlite:${join(folder, 'jobs.db')}`;
  server = await world({ store, engine: { types: [], lease: `${3 * slowness}s` } });
  other = new Engine({ store, types: [patient], slots: 1, lease: `${3 * slowness}s` });
  await other.resume();
});
afterAll(async () => {
  await server.close();
  await other.close({ patience: '1s' });
  await rm(folder, { recursive: true, force: true });
});

const told = async () =>
  routes.listInstances.answer.parse((await server.get(`${api}/instances`)).body).items.find(({ id }) => id === other.instance)!;
const stateOf = async (id: number): Promise<string> => (await server.get(`${api}/runs/${id}`)).body.state;

test('an instance with full slots can be drained: it finishes its jobs, claims no more, and resumes on command', async () => {
  const start = async (): Promise<number> => (await server.post(`${api}/runs`, { type: 'patient' })).body.id;
  const running = await start();
  await expect.poll(() => stateOf(running)).toBe('running');
  const waiting = await start();

  const drained = await server.post(`${api}/instances/${other.instance}/drain`, { why: 'the machine is to be moved' });
  expect(drained.status).toBe(200);
  expect(await ended(server, drained.body.order)).toMatchObject({ standing: 'succeeded', type: `stint.instance/${other.instance}` });
  await expect.poll(async () => (await told()).isDraining).toBe(true);
  expect(await stateOf(running)).toBe('running');
  await server.post(`${api}/runs/${running}/cancel`, {});
  await expect.poll(() => stateOf(running)).toBe('ended');
  expect(await stateOf(waiting)).toBe('pending');
  const { body } = await server.get(`${api}/runs/${waiting}/explain`);
  expect(body.items.map(({ code }: { code: string }) => code)).toContain('suspended');

  await server.post(`${api}/instances/${other.instance}/resume`, {});
  await expect.poll(() => stateOf(waiting)).toBe('running');
  const audit = await server.get(`${api}/audit?action=drain`);
  expect(audit.body.items).toMatchObject([{ by: 'http:local', why: 'the machine is to be moved', after: { instance: other.instance } }]);
});

test('commands to gone or unknown instances and to remote workers are refused', async () => {
  await server.post(`${api}/work/claim`, { worker: 'remote', types: ['nothing'] });
  for (const id of ['nobody', 'http:local/remote']) {
    const reply = await server.post(`${api}/instances/${encodeURIComponent(id)}/drain`, {});
    expect([id, reply.status, reply.body.code]).toEqual([id, 404, 'unknown.instance']);
  }
});
