// Saved views over HTTP: shared by all, saved at the same time without loss, bounded, and recorded in the audit.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migratedDatabase } from '../support/fresh-database.ts';
import { api, as, records, world, type Reply, type World } from './world.ts';

const [vera, olga, paul] = [as('viewer'), as('operator'), as('producer')];
const failed = { page: 'runs', query: 'search=state%3Afailed' };

const folder = mkdtempSync(join(tmpdir(), 'stint-views-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe.each([
  ['SQLite', () => `sqlite:${join(folder, 'jobs.db')}`],
  ['PostgreSQL', () => migratedDatabase()],
])('on %s', (_, urlOf) => {
  /** Two servers of one store. */
  let server: World;
  let other: World;
  beforeAll(async () => {
    const options = { store: await urlOf(), access: { tokens: records }, isIdle: true };
    server = await world(options);
    other = await world(options);
  });
  afterAll(async () => {
    await server.close();
    await other.close();
  });

  const save = (name: string, body: object, by = olga, to = server): Promise<Reply> =>
    to.send('PUT', `${api}/views/${encodeURIComponent(name)}`, body, by);
  const names = async (query = ''): Promise<string[]> =>
    (await server.get(`${api}/views${query}`, vera)).body.items.map(({ name }: { name: string }) => name);
  const remove = (name: string, by = olga): Promise<Reply> =>
    server.send('DELETE', `${api}/views/${encodeURIComponent(name)}`, undefined, by);
  const codeOf = ({ status, body }: Reply): unknown => [status, body.code];

  test('what an operator saves, a viewer reads, with who saved it and when', async () => {
    const before = server.engine.now();
    const saved = await save('Broken / today', failed);
    expect(saved).toMatchObject({ status: 200, body: { ...failed, name: 'Broken / today', by: 'http:olga', version: 1 } });
    expect(saved.body.at).toBeGreaterThanOrEqual(before);
    expect((await server.get(`${api}/views/Broken%20%2F%20today`, vera)).body).toEqual(saved.body);
    await save('Web', { page: 'definitions', query: 'tag=team%3Dweb' });
    expect(await names('?page=runs')).toEqual(['Broken / today']);
    expect(await names()).toEqual(['Broken / today', 'Web']);
    for (const name of await names()) expect((await remove(name)).status).toBe(200);
    expect(await names()).toEqual([]);
  });

  test('only operators write', async () => {
    await save('Guarded', failed);
    expect(codeOf(await save('New', failed, vera))).toEqual([403, 'forbidden']);
    expect(codeOf(await save('Guarded', { ...failed, query: 'a=b' }, paul))).toEqual([403, 'forbidden']);
    expect(codeOf(await server.post(`${api}/views/Guarded/rename`, { name: 'Free' }, vera))).toEqual([403, 'forbidden']);
    expect(codeOf(await remove('Guarded', vera))).toEqual([403, 'forbidden']);
    expect(codeOf(await server.get(`${api}/views`, paul))).toEqual([403, 'forbidden']);
    expect((await server.get(`${api}/views/Guarded`, vera)).body).toMatchObject(failed);
    await remove('Guarded');
  });

  test('views that are saved at once are all there, and of one name one counts', async () => {
    const wanted = Array.from({ length: 12 }, (_each, number) => `view ${String(number).padStart(2, '0')}`);
    const replies = await Promise.all(wanted.map((name, number) => save(name, failed, olga, number % 2 === 0 ? server : other)));
    expect(replies.map(({ status }) => status)).toEqual(wanted.map(() => 200));
    expect(await names()).toEqual(wanted);
    const rivals = await Promise.all(['a', 'b', 'c', 'd'].map((value, number) =>
      save('rival', { page: 'runs', query: `search=${value}`, version: 0 }, olga, number % 2 === 0 ? server : other)));
    expect(rivals.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
    expect(rivals.find(({ status }) => status === 409)!.body.code).toBe('taken.view');
    for (const name of await names()) await remove(name);
  });

  test('a view that somebody has saved meanwhile is not overwritten unseen', async () => {
    const { body: { version } } = await save('Shared', failed);
    await save('Shared', { ...failed, query: 'search=by-another', version });
    expect(codeOf(await save('Shared', { ...failed, query: 'search=mine', version }))).toEqual([409, 'stale.view']);
    expect((await server.get(`${api}/views/Shared`, vera)).body).toMatchObject({ query: 'search=by-another', version: version + 1 });
    expect((await save('Shared', { ...failed, query: 'search=whatever' })).body.version).toBe(version + 2);
    expect((await save('Shared', { ...failed, query: 'search=whatever' })).body.version).toBe(version + 2);
    await remove('Shared');
    expect(codeOf(await save('Shared', { ...failed, version }))).toEqual([409, 'stale.view']);
  });

  test('a view is renamed in one step, and never onto another', async () => {
    await save('Old', failed);
    await save('Other', { ...failed, query: 'a=b' });
    const rename = (name: string, renamed: string): Promise<Reply> =>
      server.post(`${api}/views/${name}/rename`, { name: renamed }, olga);
    expect(codeOf(await rename('Old', 'Other'))).toEqual([409, 'taken.view']);
    expect((await rename('Old', 'New')).body).toMatchObject({ ...failed, name: 'New' });
    expect(codeOf(await rename('Old', 'New'))).toEqual([404, 'unknown.view']);
    expect(await names()).toEqual(['New', 'Other']);
    for (const name of await names()) await remove(name);
  });

  test('what cannot be a view is refused, and nothing is stored', async () => {
    const refused = async (name: string, body: object): Promise<unknown> => (await save(name, body)).body.code;
    expect(await refused('x', { ...failed, page: 'instances' })).toBe('malformed.request');
    expect(await refused('x', { ...failed, query: '' })).toBe('malformed.request');
    expect(await refused('x', { ...failed, query: `a=${'b'.repeat(2000)}` })).toBe('malformed.request');
    for (const query of ['?a=b', 'a=b#c', 'a=ä', 'a=b c', 'a=\n']) expect(await refused('x', { ...failed, query })).toBe('malformed.option');
    for (const name of [' x', 'x'.repeat(101), 'a\u0007b']) expect(await refused(name, failed)).toBe('malformed.name');
    expect(codeOf(await server.get(`${api}/views/nobody`, vera))).toEqual([404, 'unknown.view']);
    expect(codeOf(await remove('nobody'))).toEqual([404, 'unknown.view']);
    expect(await names()).toEqual([]);
  });

  test('there are at most 200 views, even if the last are saved at once', async () => {
    for (let number = 0; number < 198; number += 1) await server.engine.saveView(`view ${number}`, { page: 'runs', query: 'a=b' });
    const last = await Promise.all(['w', 'x', 'y', 'z'].map((name) => save(name, failed)));
    expect(last.map(({ status, body }) => String(body.code ?? status)).toSorted()).toEqual(['200', '200', 'full.views', 'full.views']);
    expect(await names()).toHaveLength(200);
    expect((await save('view 0', { ...failed, query: 'c=d' })).status).toBe(200);
    await remove('view 0');
    expect((await save('one more', failed)).status).toBe(200);
    for (const name of await names()) await server.engine.deleteView(name);
  });

  test('the audit has who did what and why', async () => {
    await save('Noted', { ...failed, why: 'for the team' });
    await server.post(`${api}/views/Noted/rename`, { name: 'Known' }, olga);
    await server.send('DELETE', `${api}/views/Known?why=unused`, undefined, olga);
    const entry = (name: string): object => ({ name, ...failed });
    const { body } = await server.get(`${api}/audit?limit=3`, olga);
    expect(body.items).toMatchObject([
      { action: 'view.delete', by: 'http:olga', why: 'unused', before: entry('Known'), after: null },
      { action: 'view.rename', by: 'http:olga', why: null, before: entry('Noted'), after: entry('Known') },
      { action: 'view.save', by: 'http:olga', why: 'for the team', before: null, after: entry('Noted') },
    ]);
  });
});
