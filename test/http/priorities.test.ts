// The highest priority that a caller may give, by role and by token: for runs, children, flows, edits and definitions.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newToken, readTokens } from '../../src/http/access/tokens.ts';
import { api, as, records, world, type World } from './world.ts';

const trusted = newToken({ name: 'petra', role: 'producer', priorityMax: 500 });
const careful = newToken({ name: 'otto', role: 'operator', priorityMax: 10 });
const bearing = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const [asTrusted, asCareful] = [bearing(trusted.token), bearing(careful.token)];
const tokens = [...records, trusted.record, careful.record];

type Sender = ReturnType<typeof as>;

let server: World;
let bounded: World;
beforeAll(async () => {
  server = await world({ access: { tokens }, isIdle: true });
  bounded = await world({ access: { tokens }, priorities: { producer: 0, worker: 5, operator: 50 }, isIdle: true });
});
afterAll(async () => {
  await server.close();
  await bounded.close();
});

const statusOf = async (on: World, priority: number, who: Sender, path = `${api}/runs`): Promise<number> => {
  const what = path.endsWith('/runs') ? { type: 'echo' } : {};
  return (await on.post(path, { ...what, delay: '1h', priority }, who)).status;
};

describe('the bound of a role', () => {
  test('is 100 for producers, and operators have none', async () => {
    expect([await statusOf(server, 100, as('producer')), await statusOf(server, 101, as('producer'))]).toEqual([201, 403]);
    expect([await statusOf(server, -500, as('producer')), await statusOf(server, 1_000_000, as('operator'))]).toEqual([201, 201]);
  });

  test('can be set, also for runs of definitions and for children', async () => {
    expect([await statusOf(bounded, 0, as('producer')), await statusOf(bounded, 1, as('producer'))]).toEqual([201, 403]);
    await bounded.post(`${api}/defs`, { name: 'd', type: 'echo' }, as('operator'));
    expect(await statusOf(bounded, 1, as('producer'), `${api}/defs/d/run`)).toBe(403);
    await bounded.post(`${api}/runs`, { type: 'parts' }, as('operator'));
    const { body } = await bounded.post(`${api}/work/claim`, { worker: 'w', types: ['parts'] }, as('worker'));
    const [{ id, fence }] = body.items;
    const children = (priority: number) => ({ fence, children: [{ type: 'x', priority }] });
    expect((await bounded.post(`${api}/work/${id}/children`, children(6), as('worker'))).status).toBe(403);
    expect((await bounded.post(`${api}/work/${id}/children`, children(5), as('worker'))).status).toBe(201);
  });

  test('holds for the runs of a flow, of which none is created', async () => {
    const flow = (priority: number) => ({ runs: [{ name: 'a', type: 'echo' }, { name: 'b', type: 'echo', priority }] });
    expect((await bounded.post(`${api}/flows`, flow(1), as('producer'))).body).toMatchObject({ code: 'forbidden.priority' });
    expect((await bounded.post(`${api}/flows`, flow(0), as('producer'))).status).toBe(201);
  });

  test('holds for operators who edit runs', async () => {
    const { body: { id } } = await bounded.post(`${api}/runs`, { type: 'echo', delay: '1h', priority: 7 }, as('operator'));
    const edited = await bounded.send('PATCH', `${api}/runs/${id}`, { priority: 51 }, as('operator'));
    expect(edited).toMatchObject({ status: 403, body: { code: 'forbidden.priority', about: { priority: 51, max: 50 } } });
    expect(await bounded.engine.get(id)).toMatchObject({ priority: 7, version: 1 });
    expect((await bounded.send('PATCH', `${api}/runs/${id}`, { priority: 50 }, as('operator'))).status).toBe(200);
    expect((await bounded.send('PATCH', `${api}/runs/${id}`, { priority: 51 }, as('admin'))).status).toBe(200);
    expect((await bounded.send('PATCH', `${api}/runs/${id}`, { tags: { a: 'b' } }, as('operator'))).status).toBe(200);
  });
});

describe('a bounded operator', () => {
  const priorityOf = async (name: string) => (await bounded.engine.definition(name)).spec.priority;
  beforeAll(() => bounded.post(`${api}/defs`, { name: 'urgent', type: 'echo', priority: 900 }, as('admin')));

  test('creates and edits definitions up to the bound', async () => {
    const create = (name: string, priority: number) => bounded.post(`${api}/defs`, { name, type: 'echo', priority }, as('operator'));
    expect([(await create('low', 50)).status, (await create('high', 51)).status]).toEqual([201, 403]);
    await expect(bounded.engine.definition('high')).rejects.toMatchObject({ code: 'unknown.definition' });
    const edit = (priority: number) => bounded.send('PATCH', `${api}/defs/low`, { priority }, as('operator'));
    expect([(await edit(51)).status, await priorityOf('low'), (await edit(9)).status, await priorityOf('low')]).toEqual([403, 50, 200, 9]);
  });

  test('changes other settings of a definition with a higher priority, but does not clone it', async () => {
    expect((await bounded.send('PATCH', `${api}/defs/urgent`, { tags: { by: 'olga' } }, as('operator'))).status).toBe(200);
    expect(await priorityOf('urgent')).toBe(900);
    const cloned = await bounded.post(`${api}/defs/urgent/clone`, { name: 'second' }, as('operator'));
    expect(cloned.body).toMatchObject({ code: 'forbidden.priority' });
    await expect(bounded.engine.definition('second')).rejects.toMatchObject({ code: 'unknown.definition' });
  });

  test('applies documents that raise no priority above the bound', async () => {
    const apply = (definitions: object[], more: object = {}) => bounded.post(`${api}/definitions/apply`, { definitions, ...more }, as('operator'));
    const urgent = { name: 'urgent', type: 'echo', priority: 900, tags: { by: 'git' } };
    const refused = await apply([urgent, { name: 'applied', type: 'echo', priority: 60 }]);
    expect(refused.body).toMatchObject({ code: 'forbidden.priority' });
    expect((await apply([{ ...urgent, priority: 901 }], { dryRun: true })).status).toBe(403);
    await expect(bounded.engine.definition('applied')).rejects.toMatchObject({ code: 'unknown.definition' });
    expect((await apply([urgent, { name: 'applied', type: 'echo', priority: 40 }])).status).toBe(200);
    expect([await priorityOf('urgent'), await priorityOf('applied')]).toEqual([900, 40]);
  });
});

describe('the bound of a token', () => {
  test('counts in place of the bound of its role', async () => {
    expect([await statusOf(server, 500, asTrusted), await statusOf(server, 501, asTrusted)]).toEqual([201, 403]);
    expect([await statusOf(server, 10, asCareful), await statusOf(server, 11, asCareful)]).toEqual([201, 403]);
    expect([await statusOf(bounded, 500, asTrusted), await statusOf(bounded, 501, asTrusted)]).toEqual([201, 403]);
  });

  test('comes from authenticate, too', async () => {
    const authenticate = () => ({ name: 'ada', role: 'admin' as const, priorityMax: 3 });
    const own = await world({ access: { authenticate }, isIdle: true });
    expect([await statusOf(own, 3, { headers: {} }), await statusOf(own, 4, { headers: {} })]).toEqual([201, 403]);
    await own.close();
  });

  test('is shown to the caller and in the list of tokens', async () => {
    const shown = async (on: World, who: Sender) => (await on.get(`${api}/me`, who)).body.priorityMax as number | null;
    expect(await Promise.all([shown(server, as('producer')), shown(server, asTrusted), shown(server, as('operator'))])).toEqual([100, 500, null]);
    expect(await Promise.all([shown(bounded, as('producer')), shown(bounded, as('operator')), shown(bounded, as('admin'))])).toEqual([0, 50, null]);
    const { items } = (await server.get(`${api}/tokens`, as('admin'))).body;
    expect(items.find(({ name }: { name: string }) => name === 'otto').priorityMax).toBe(10);
  });

  test('is read from a token file, and must be a whole number', () => {
    const [record] = readTokens(JSON.stringify([careful.record]));
    expect(record).toEqual(careful.record);
    const wrong = (priorityMax: unknown) => () => readTokens(JSON.stringify([{ ...careful.record, priorityMax }]));
    for (const value of [1.5, '10', {}]) expect(wrong(value)).toThrow('priorityMax');
  });
});
