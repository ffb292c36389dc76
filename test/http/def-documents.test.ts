// Definitions as data over HTTP: one document is exported, planned and applied; many are switched at once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { routes, type RouteName } from '../../src/http/contract.ts';
import { api, world, type Reply, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  server = await world({ isIdle: true });
});
afterAll(() => server.close());

function fits(name: RouteName, { status, body }: Reply): void {
  expect([name, status]).toEqual([name, ('status' in routes[name] ? routes[name].status : 200)]);
  expect(routes[name].answer.parse(body)).toEqual(body);
}

const apply = (body: object): Promise<Reply> => server.post(`${api}/definitions/apply`, body);

test('a document is planned, applied under the digest of its plan, and exported as it was', async () => {
  const document = { definitions: [
    { name: 'report', type: 'echo', enabled: true, params: { to: 'all' }, schedules: [{ cron: '0 3 * * *' }], tags: { team: 'web' } },
    { name: 'digest', type: 'echo', enabled: false },
  ] };
  const plan = await apply({ ...document, dryRun: true });
  fits('applyDefs', plan);
  expect((await server.get(`${api}/defs?match=report`)).body.items).toEqual([]);
  const applied = await Promise.all([
    apply({ ...document, digest: plan.body.digest, why: 'rollout 7' }), apply({ ...document, digest: plan.body.digest }),
  ]);
  expect(applied.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 409]);
  expect(applied.find(({ status }) => status === 409)!.body.code).toBe('stale.plan');
  const exported = await server.get(`${api}/definitions/export`);
  fits('exportDefs', exported);
  expect(exported.body.definitions).toEqual(document.definitions);
  expect((await apply({ ...exported.body, prune: true, dryRun: true })).body.definitions.every((each: { action: string }) => each.action === 'unchanged')).toBe(true);
  const wrong = await apply({ definitions: [{ name: 'x', type: 'echo', timeout: 'soon' }] });
  expect(wrong).toMatchObject({ status: 400, body: { code: 'malformed.duration', about: { documentPath: ['definitions', 0, 'timeout'] } } });
});

test('definitions are listed by tag, status and last outcome, switched together, cloned and renamed', async () => {
  const names = async (query: string): Promise<string[]> =>
    (await server.get(`${api}/defs?${query}`)).body.items.map(({ name }: { name: string }) => name);
  expect(await names('tag=team:web')).toEqual(['report']);
  expect(await names('status=disabled')).toEqual(['digest']);
  expect(await names('lastOutcome=FAILED')).toEqual([]);
  const switched = await server.post(`${api}/definitions/switch`, { match: 're*', enabled: false, why: 'holidays' });
  fits('switchDefs', switched);
  expect(switched.body.names).toEqual(['report']);
  expect((await server.post(`${api}/definitions/switch`, { enabled: false })).status).toBe(400);
  fits('cloneDef', await server.post(`${api}/defs/report/clone`, { name: 'copy' }));
  fits('renameDef', await server.post(`${api}/defs/copy/rename`, { name: 'second' }));
  expect(await names('match=*')).toEqual(expect.arrayContaining(['report', 'second']));
  expect((await server.post(`${api}/defs/nightly/rename`, { name: 'x' })).body.code).toMatch(/definition/);
});
