// The audit: who did what, when and why, with the state before and after, also for deleted jobs.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { jobType } from '../../src/index.ts';
import { Door } from '../engine/api/kit.ts';
import {
  api,
  as,
  broken,
  echo,
  ended,
  nightly,
  parts,
  patient,
  records,
  world,
  type Reply,
  type World,
} from './world.ts';

let server: World;
const door = new Door();
const alone = jobType('alone', { onePerType: true, run: () => door.pass() });
beforeAll(async () => {
  server = await world({
    access: { tokens: records },
    engine: { types: [echo, broken, patient, parts, alone], defs: [nightly] },
  });
});
afterAll(() => server.close());

const asOlga = as('operator');
const create = async (body: object): Promise<number> =>
  (await server.post(`${api}/runs`, body, asOlga)).body.id as number;
const audit = async (query = ''): Promise<Reply['body'][]> =>
  (await server.get(`${api}/audit${query}`, asOlga)).body.items;

/** As `ended`, with a token. */
async function endedFor(id: number): Promise<void> {
  await ended({ ...server, get: (path) => server.get(path, asOlga) }, id);
}

describe('the audit', () => {
  test('records each action on a run with actor, reason, before and after', async () => {
    const id = await create({ type: 'echo', dueTime: '2099-01-01T00:00:00Z' });
    await server.send('PATCH', `${api}/runs/${id}`, { priority: 7, why: 'urgent' }, asOlga);
    await server.post(`${api}/runs/${id}/pause`, {}, asOlga);
    await server.post(`${api}/runs/${id}/resume`, {}, asOlga);
    await server.post(`${api}/runs/${id}/cancel`, { why: 'a mistake' }, asOlga);
    const told = await audit(`?job=${id}`);
    expect(told.map(({ action }) => action)).toEqual(['cancel', 'resume', 'pause', 'edit']);
    expect(told[3]).toMatchObject({ by: 'http:olga', why: 'urgent', before: { priority: 0 }, after: { priority: 7 } });
    expect(told[0]).toMatchObject({
      why: 'a mistake',
      before: { standing: 'pending' },
      after: { standing: 'cancelled' },
    });
    expect(told[0].at).toBeGreaterThanOrEqual(told[1].at);
  });

  test('keeps a deleted run with the actor and the reason', async () => {
    const id = await create({ type: 'echo', input: 1, tags: { tenant: 'a' } });
    await endedFor(id);
    await server.send('DELETE', `${api}/runs/${id}?why=a%20wish`, undefined, asOlga);
    expect((await server.get(`${api}/runs/${id}`, asOlga)).status).toBe(404);
    expect(await audit(`?job=${id}`)).toMatchObject([
      {
        action: 'delete',
        by: 'http:olga',
        why: 'a wish',
        after: null,
        before: { type: 'echo', standing: 'succeeded', tags: { tenant: 'a' } },
      },
    ]);
  });

  test('has a deletion in its own commit; other actions have actor and reason in the history in theirs', async () => {
    const [open, over] = [await create({ type: 'echo', delay: '1h' }), await create({ type: 'echo' })];
    await endedFor(over);
    const { store } = server.engine.jobs;
    const commits: string[] = [];
    const commit = vi.spyOn(store, 'commit').mockImplementation((batch) => {
      commits.push(JSON.stringify(batch));
      return Promise.reject(new Error('the store is away'));
    });
    onTestFinished(() => commit.mockRestore());
    const pause = await server.post(`${api}/runs/${open}/pause`, { why: 'planned' }, asOlga);
    const removal = await server.send('DELETE', `${api}/runs/${over}?why=wish`, undefined, asOlga);
    commit.mockRestore();
    expect([pause.status, removal.status]).toEqual([500, 500]);
    const [paused, deleted, ...more] = commits;
    expect(JSON.parse(paused!)).toMatchObject({ changes: [{ events: [{ kind: 'paused', by: 'http:olga', why: 'planned' }] }] });
    expect(JSON.parse(deleted!)).toMatchObject({ changes: expect.arrayContaining([
      expect.objectContaining({ after: null }), expect.objectContaining({ after: expect.objectContaining({ kind: 'audit' }) }),
    ]) });
    expect([more, await audit(`?job=${open}`), await audit(`?job=${over}`)]).toEqual([[], [], []]);
    expect((await server.get(`${api}/runs/${over}`, asOlga)).status).toBe(200);
  });

  test('records each run that a bulk operation deletes', async () => {
    const ids = [
      await create({ type: 'echo', tags: { bulk: 'x' } }),
      await create({ type: 'echo', tags: { bulk: 'x' } }),
    ];
    for (const id of ids) await endedFor(id);
    const { body } = await server.post(
      `${api}/bulk`,
      { action: 'delete', filter: { tag: ['bulk:x'], state: ['ended'] } },
      asOlga,
    );
    await endedFor(body.operation as number);
    const told = await audit('?action=delete&limit=2');
    expect(new Set(told.map(({ job }) => job as number))).toEqual(new Set(ids));
    expect(told[0]).toMatchObject({
      by: 'http:olga',
      why: expect.stringContaining(`operation ${body.operation}`) as string,
    });
  });

  test('records actions on definitions', async () => {
    await server.post(`${api}/defs/nightly/disable`, { why: 'holidays' }, asOlga);
    await server.post(`${api}/defs/nightly/enable`, {}, asOlga);
    expect(
      (await audit('?limit=2')).map(({ action, def, before, after }) => [
        action,
        def,
        before.isEnabled,
        after.isEnabled,
      ]),
    ).toEqual([
      ['enable', 'nightly', false, true],
      ['disable', 'nightly', true, false],
    ]);
  });

  test('records the reason for removing an override and deleting a definition', async () => {
    const def = `${api}/defs/nightly`;
    await server.send('PATCH', def, { priority: 7 }, asOlga);
    await server.send('DELETE', `${def}/override?why=the%20rush%20is%20over`, undefined, asOlga);
    const said = { by: 'http:olga', def: 'nightly' };
    expect((await audit('?limit=1'))[0]).toMatchObject({
      ...said, action: 'override', why: 'the rush is over', before: { override: { priority: 7 } }, after: { override:
      null },
    });
    const { id } = (await server.get(def, asOlga)).body;
    expect((await server.send('DELETE', `${def}?why=`, undefined, asOlga)).status).toBe(400);
    await server.send('DELETE', `${def}?why=nobody%20reads%20it`, undefined, asOlga);
    expect((await audit('?limit=1'))[0]).toMatchObject({
      ...said, action: 'undefine', why: 'nobody reads it', before: { isEnabled: true }, after: null,
    });
    const { items } = (await server.get(`${api}/runs/${id}/events`, asOlga)).body;
    expect(items.slice(-1)).toMatchObject([{ kind: 'cancelled', by: 'http:olga', why: 'nobody reads it' }]);
  });

  test('records neither refused actions nor actions of the program itself', async () => {
    const count = (await audit()).length;
    expect((await server.post(`${api}/runs/999999/cancel`, {}, asOlga)).status).toBe(404);
    const run = await server.engine.createJobRun(patient);
    await run.cancel();
    expect(await audit()).toHaveLength(count);
  });

  test('contains no runs: its records are neither listed nor counted as runs, and cannot be claimed', async () => {
    const { body } = await server.get(`${api}/runs?limit=1000`, asOlga);
    expect(body.items.filter(({ type }: { type: string }) => type === 'stint.audit')).toEqual([]);
    const claim = { worker: 'w', types: ['stint.audit'], limit: 10 };
    expect((await server.post(`${api}/work/claim`, claim, as('worker'))).body.items).toEqual([]);
  });
});

describe('an Idempotency-Key for a one-per-type type', () => {
  const post = (key: string): Promise<Reply> =>
    server.post(`${api}/runs`, { type: 'alone' }, { headers: { ...asOlga.headers, 'idempotency-key': key } });

  test('returns the same run while it is open, and another key is refused', async () => {
    const first = await post('one');
    expect(first.status).toBe(201);
    while (door.knocks === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    const again = await post('one');
    expect([again.status, again.body.id, again.body.outcome]).toEqual([200, first.body.id, 'existing']);
    const other = await post('two');
    expect([other.status, other.body.code]).toEqual([409, 'busy.type']);
    door.open();
    await endedFor(first.body.id as number);
    expect((await post('one')).body).toMatchObject({ id: first.body.id, outcome: 'existing' });
  });
});
