// Workers that wait over HTTP get work at once. The server's clock stands still, so polling cannot find it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jobType, openStore } from '../../src/index.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import { SlowLine } from '../support/slow-line.ts';
import { api, until, world, type Reply, type World } from './world.ts';

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

test('a run that becomes due before the answer to a claim arrives reaches its worker without a poll', async () => {
  const clock = new VirtualClock(0);
  const line = new SlowLine(openStore('memory:', { clock }));
  const own = await world({ clock, isIdle: true, engine: { store: line.store, clock, types: [], defs: [] } });
  const { id } = (await own.post(`${api}/runs`, { type: 'soon', delay: '50ms' })).body;
  line.hold('claim');
  const claimed = own.post(`${api}/work/claim`, { worker: 'w', types: ['soon'], waitMs: 60_000 });
  await until(() => line.waiting('claim') === 1);
  await clock.advance(60);
  line.letGo('claim');
  let items: unknown[] | undefined;
  void claimed.then(({ body }) => (items = body.items));
  await until(async () => {
    // The server's clock moves by less than its poll interval of five seconds.
    if (clock.now() < 1_000) await clock.advance(1);
    return items !== undefined || clock.now() >= 1_000;
  });
  expect(items).toMatchObject([{ id }]);
  await own.close();
});
