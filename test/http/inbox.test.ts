// The inbox over HTTP: refused requests are listed with their reason, retried and removed by operators only.
import { expect, onTestFinished, test } from 'vitest';
import { api, as, records, until, world } from './world.ts';

interface Request {
  readonly id: number;
  readonly refused: { readonly at: number } | null;
}

test('requests are listed with code and sentence, retried and removed, and the audit has both', async () => {
  const server = await world({ access: { tokens: records } });
  onTestFinished(() => server.close());
  const good = { type: 'echo', input: '{"a":1}', options: '{}' };
  const ids = await server.engine.jobs.store.enqueue([good, { ...good, options: '{"priority":"high"}' }]);
  const list = async (): Promise<Request[]> =>
    (await server.get(`${api}/inbox?limit=10`, as('viewer'))).body.items as Request[];
  await until(async () => (await list()).length === 1 && (await list())[0]!.refused !== null);

  const [refused] = await list();
  const message = expect.stringContaining('priority must be') as string;
  expect(refused).toMatchObject({ id: ids[1], type: 'echo', refused: { code: 'malformed.number', message } });
  const path = `${api}/inbox/${ids[1]}`;
  expect((await server.post(`${path}/retry`, {}, as('viewer'))).status).toBe(403);
  expect((await server.post(`${path}/retry`, { why: 'again' }, as('operator'))).status).toBe(200);
  await until(async () => ((await list())[0]?.refused?.at ?? 0) > refused!.refused!.at);
  expect((await server.send('DELETE', path, undefined, as('viewer'))).status).toBe(403);
  expect((await server.send('DELETE', `${path}?why=typo`, undefined, as('operator'))).status).toBe(200);
  expect(await list()).toEqual([]);
  const again = await server.send('DELETE', path, undefined, as('operator'));
  expect(again.body).toMatchObject({ code: 'unknown.request' });
  const { records: audited } = await server.engine.jobs.audited({});
  expect(audited.map(({ action, why }) => [action, why])).toEqual(
    expect.arrayContaining([['inbox.retry', 'again'], ['inbox.remove', 'typo']]),
  );
});
