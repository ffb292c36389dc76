// Workers that wait over HTTP get work at once. The server's clock stands still, so polling cannot find it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobType } from '../../src/index.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { api, world, type Reply, type World } from './world.ts';

let server: World;
beforeAll(async () => {
  const limited = jobType('limited', { concurrency: 1, run: () => null });
  server = await world({ clock: new VirtualClock(0), isIdle: true, engine: { types: [limited], defs: [] } });
});
afterAll(() => server.close());

const create = async (body: object): Promise<number> => (await server.post(`${api}/runs`, body)).body.id as number;
const claim = async (type: string, waitMs = 0): Promise<Reply['body']> =>
  (await server.post(`${api}/work/claim`, { worker: 'w', types: [type], waitMs })).body.items[0];
const write = (id: number, what: string, body: object): Promise<Reply> => server.post(`${api}/work/${id}/${what}`, body);

/** A claim that waits: resolves when the server has it among its waiters. */
async function waiting(type: string): Promise<{ readonly claimed: Promise<Reply['body']> }> {
  const claimed = claim(type, 60_000);
  for (;;) {
    const { body } = await server.get('/metrics');
    if (/^stint_workers_waiting 1$/m.test(body)) return { claimed };
  }
}

test('a new run reaches a waiting worker', async () => {
  const { claimed } = await waiting('created');
  const id = await create({ type: 'created' });
  expect(await claimed).toMatchObject({ id });
});

test('a released job reaches a waiting worker', async () => {
  const id = await create({ type: 'released' });
  const { fence } = await claim('released');
  const { claimed } = await waiting('released');
  await write(id, 'release', { fence });
  expect(await claimed).toMatchObject({ id, fence: 2 });
});

test('a job that failed and is due again reaches a waiting worker', async () => {
  const id = await create({ type: 'failed' });
  const { fence } = await claim('failed');
  const { claimed } = await waiting('failed');
  await write(id, 'fail', { fence, error: { message: 'no luck' }, retryAt: 1 });
  expect(await claimed).toMatchObject({ id, attempt: 2 });
});

test('children reach a waiting worker when their parent completes', async () => {
  const id = await create({ type: 'parent' });
  const { fence } = await claim('parent');
  await write(id, 'children', { fence, children: [{ type: 'child' }] });
  const { claimed } = await waiting('child');
  await write(id, 'complete', { fence });
  expect(await claimed).toMatchObject({ parent: id });
});

test('a parent reaches a waiting worker when its last child completes', async () => {
  const id = await create({ type: 'whole' });
  const { fence } = await claim('whole');
  await write(id, 'children', { fence, children: [{ type: 'part' }] });
  await write(id, 'complete', { fence });
  const child = await claim('part');
  const { claimed } = await waiting('whole');
  await write(child.id, 'complete', { fence: child.fence });
  expect(await claimed).toMatchObject({ id, fence: 2 });
});

test.each([
  ['complete', {}],
  ['fail', { error: { message: 'never' }, retryable: false }],
])('a run at a full limit reaches a waiting worker after %s of the run before it', async (what, body) => {
  const first = await create({ type: 'limited' });
  const second = await create({ type: 'limited' });
  const { fence } = await claim('limited');
  const { claimed } = await waiting('limited');
  await write(first, what, { fence, ...body });
  const next = await claimed;
  expect(next).toMatchObject({ id: second });
  await write(second, 'complete', { fence: next.fence });
});
