// Outages: backends are killed, answers and requests get lost, the server crashes; the store goes on and is right.
import { expect, test } from 'vitest';
import type { Job } from '../../../src/model/job.ts';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import type { Note } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { detail } from '../../support/detail.ts';
import { TestPostgres } from '../../support/postgres.ts';
import { born, claimed, connect, decided, freshStore, made, many, openStore } from './ground.ts';
import { proxyTo, type Proxy } from './proxy.ts';

/** A store that reaches its server only through a proxy, over one connection. */
async function storeBehindProxy(): Promise<{ proxy: Proxy; store: PostgresStore; direct: PostgresStore }> {
  const { url, store: direct } = await freshStore();
  const proxy = await proxyTo(url);
  const store = openStore(proxy.url, { max: 1, prepare: false });
  await store.load([1]);
  return { proxy, store, direct };
}

const kill = `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = 'stint' and datname = current_database()`;

test('connections that the server ends are replaced without an error', async () => {
  const { url, store } = await freshStore({ max: 4 });
  const client = await connect(url);
  const jobs = await made(store, ...many(40));
  const taken: number[] = [];
  for (let round = 0; round < 8; round += 1) {
    const working = [store.load(jobs.map(({ id }) => id)), claimed(store, { limit: 5 }), made(store, {})] as const;
    await client.query(kill);
    const [loaded, running] = await Promise.all(working);
    expect(loaded).toHaveLength(40);
    taken.push(...running.map(({ id }) => id));
  }
  expect(new Set(taken).size).toBe(taken.length);
  expect(await store.count({ standings: ['running'] })).toMatchObject([{ count: taken.length }]);
});

test('a new job whose acknowledgement was lost is stored once, and the caller learns it', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [change] = await born(store, {});
  proxy.loseAnswerTo('insert into');
  expect(await store.commit({ changes: [change!] })).toEqual([true]);
  expect(proxy.lost()).toBe(1);
  expect(await direct.history(change!.after.id)).toHaveLength(1);
});

test('a new job whose request was lost is stored once, too', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [change] = await born(store, {});
  proxy.loseRequest('insert into');
  expect(await store.commit({ changes: [change!] })).toEqual([true]);
  expect(proxy.lost()).toBe(1);
  expect(await direct.history(change!.after.id)).toHaveLength(1);
});

test('a flow whose acknowledgement was lost is stored once, and the caller learns it', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [first, second] = await born(store, {}, {});
  const [one, two] = [first!.after.id, second!.after.id];
  const edges = [{ follower: two, followed: one, outcome: null, links: [], result: null }];
  proxy.loseAnswerTo('commit\0');
  const written = await store.commit({ changes: [first!, second!], whole: true, edges, flows: [{ id: one, runs: [one, two] }] });
  expect(written).toEqual([true, true]);
  expect(proxy.lost()).toBe(1);
  expect(await direct.flowRuns(one, 0, 10)).toEqual([one, two]);
});

test('a job that has moved on before its lost acknowledgement was asked after is still ours', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [change] = await born(store, { unique: { key: 'k', forMs: null } });
  proxy.loseAnswerTo('insert into');
  const storing = store.commit({ changes: [change!] });
  const [running] = await claimUntilTaken(direct);
  await direct.commit({ changes: [decided(running!, { do: 'stop', code: 'admin' }, direct.now())] });
  expect(await storing).toEqual([true]);
  const history = await direct.history(change!.after.id);
  expect(history.map(({ kind }) => kind)).toEqual(['created', 'claimed', 'cancelled']);
});

test('changes, ends and deletes whose acknowledgement was lost are reported as written', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [a, b, c, d] = await made(store, {}, {}, {}, {});
  const pause = decided(a!, { do: 'pause' }, store.now());
  proxy.loseAnswerTo('update');
  expect(await store.commit({ changes: [pause] })).toEqual([true]);
  proxy.loseAnswerTo('delete from');
  expect(await store.commit({ changes: [decided(b!, { do: 'stop', code: 'user' }, store.now())] })).toEqual([true]);
  proxy.loseAnswerTo('commit\0');
  expect(await store.commit({ changes: [{ before: c!, after: null, events: [] }] })).toEqual([true]);
  const together = [decided(pause.after, { do: 'resume' }, store.now()), decided(d!, { do: 'pause' }, store.now())];
  proxy.loseAnswerTo('commit\0');
  expect(await store.commit({ changes: together, whole: true })).toEqual([true, true]);
  expect(proxy.lost()).toBe(4);
  expect((await direct.find({}, { order: 'oldest' })).jobs.map(({ id, version }) => [id, version])).toEqual([
    [a!.id, 3], [b!.id, 2], [d!.id, 2],
  ]);
});

test('a change that lost a race while its request was lost is reported as not written', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [job] = await made(store, {});
  const ours = decided(job!, { do: 'pause' }, store.now(), 'us');
  const theirs = decided(job!, { do: 'stop', code: 'admin' }, store.now(), 'them');
  expect(await direct.commit({ changes: [theirs] })).toEqual([true]);
  proxy.loseRequest('update');
  expect(await store.commit({ changes: [ours] })).toEqual([false]);
  const same = decided(job!, { do: 'stop', code: 'admin' }, store.now() + 5, 'us');
  proxy.loseRequest('delete from');
  expect(await store.commit({ changes: [same] })).toEqual([false]);
});

test('a claim whose acknowledgement was lost is known to the claimer', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const jobs = await made(store, ...many(3));
  proxy.loseAnswerTo('commit\0');
  const taken = await claimed(store);
  expect(proxy.lost()).toBe(1);
  expect(taken.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
  expect(await direct.count({})).toMatchObject([{ standing: 'running', count: 3 }]);
});

test('a claim whose request was lost took nothing', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  await made(store, ...many(3));
  proxy.loseRequest('commit\0');
  expect(await claimed(store)).toEqual([]);
  expect(proxy.lost()).toBe(1);
  expect(await claimed(direct)).toHaveLength(3);
});

test('staged children and log lines whose acknowledgement was lost are stored once', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  await made(store, {});
  const [parent] = await claimed(store);
  const children = await born(store, ...many(3, { kind: 'task', parent: parent!.id }));
  proxy.loseAnswerTo('staged');
  await store.stageChildren(parent!.id, parent!.fence, children);
  const planned = decided(parent!, { do: 'plan', fence: parent!.fence, tasks: 3 }, store.now());
  const staged = { parent: parent!.id, fence: parent!.fence };
  const log = [{ at: 1, level: 'info', text: 'one' }, { at: 2, level: 'warn', text: 'two' }] as const;
  proxy.loseAnswerTo('commit\0');
  expect(await store.writeNotes([{ id: parent!.id, fence: parent!.fence, log }])).toEqual([true]);
  proxy.loseAnswerTo('commit\0');
  expect(await store.commit({ changes: [planned], whole: true, staged })).toEqual([true]);
  expect(proxy.lost()).toBe(3);
  expect((await direct.find({ parent: parent!.id })).jobs).toHaveLength(3);
  expect(await direct.log(parent!.id)).toEqual(log.map((line, index) => ({ n: index + 1, ...line, fence: parent!.fence })));
});

detail('after a crash of the server no id is handed out twice', async () => {
  // What a commit does not flush itself stays in the memory of the server, and is lost.
  const postgres = await TestPostgres.create({ fsync: true, settings: { wal_writer_delay: '10s' } });
  const store = openStore(postgres.url, { patienceMs: 30_000 });
  try {
    await store.migrate();
    const first = await store.reserveIds(100);
    await postgres.kill('SIGKILL');
    await postgres.start();
    expect(await store.reserveIds(1)).toBe(first + 100);
  } finally {
    await store.close();
    await postgres.stop();
  }
});

detail('after a crash of the server all acknowledged jobs are stored, and work continues', async () => {
  const postgres = await TestPostgres.create({ fsync: true });
  const store = openStore(postgres.url, { patienceMs: 30_000 });
  try {
    await store.migrate();
    const stored: number[] = [];
    let isOver = false;
    const producing = Promise.all(Array.from({ length: 4 }, async () => {
      while (!isOver) stored.push(...(await made(store, {})).map(({ id }) => id));
    }));
    for (let crash = 0; crash < 2; crash += 1) {
      await systemClock.sleep(150);
      await postgres.kill('SIGKILL');
      await postgres.start();
    }
    await systemClock.sleep(150);
    isOver = true;
    await producing;
    const found = await store.load(stored);
    expect(found).toHaveLength(stored.length);
    expect(await store.count({})).toMatchObject([{ standing: 'pending', count: stored.length }]);
  } finally {
    await store.close();
    await postgres.stop();
  }
});

async function claimUntilTaken(store: PostgresStore): ReturnType<typeof claimed> {
  for (;;) {
    const taken = await claimed(store);
    if (taken.length > 0) return taken;
  }
}

test('log lines whose acknowledgement was lost are stored once, also those of two notes about one job', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  await made(store, {}, {});
  const [one, other] = await claimed(store);
  const line = (text: string) => ({ at: 5, level: 'info', text }) as const;
  const noteOf = ({ id, fence }: Job, ...texts: readonly string[]): Note => ({ id, fence, log: texts.map(line) });
  const notes = [noteOf(one!, 'a', 'b'), noteOf(other!, 'c'), noteOf(one!, 'd'), noteOf(other!, 'e')];
  proxy.loseAnswerTo('commit\0');
  expect(await store.writeNotes(notes)).toEqual([true, true, true, true]);
  expect(proxy.lost()).toBe(1);
  const textsOf = async ({ id }: Job): Promise<string[]> => (await direct.log(id)).map(({ text }) => text);
  expect(await textsOf(one!)).toEqual(['a', 'b', 'd']);
  expect(await textsOf(other!)).toEqual(['c', 'e']);
});

test('memos whose acknowledgement was lost are reported as written, with the jobs of their commit', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  const [change] = await born(store, {});
  const names = async (): Promise<string[]> => (await direct.memos('')).map(({ name, version }) => `${name} ${version}`);
  proxy.loseAnswerTo('commit\0');
  expect(await store.writeMemos([{ name: 'b', version: 0, value: '1' }, { name: 'a', version: 0, value: '1' }], [change!])).toBe(true);
  expect(await names()).toEqual(['a 1', 'b 1']);
  proxy.loseAnswerTo('commit\0');
  expect(await store.writeMemos([{ name: 'a', version: 1, value: null }, { name: 'b', version: 1, value: '1' }])).toBe(true);
  expect(await names()).toEqual(['b 2']);
  proxy.loseRequest('commit\0');
  expect(await store.writeMemos([{ name: 'b', version: 2, value: '2' }])).toBe(true);
  expect(await names()).toEqual(['b 3']);
  expect(proxy.lost()).toBe(3);
  expect(await direct.history(change!.after.id)).toHaveLength(1);
});

test('a memo that was written again before its lost acknowledgement was asked after is still ours', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  proxy.loseAnswerTo('commit\0');
  const writing = store.writeMemos([{ name: 'a', version: 0, value: '1' }]);
  while (!(await direct.writeMemos([{ name: 'a', version: 1, value: '2' }])));
  expect(await writing).toBe(true);
  expect(proxy.lost()).toBe(1);
  expect(await direct.memos('a')).toEqual([{ name: 'a', version: 2, value: '2' }]);
});

test('memos that lost a race while their request was lost are reported as not written', async () => {
  const { proxy, store, direct } = await storeBehindProxy();
  await direct.writeMemos([{ name: 'a', version: 0, value: '0' }]);
  proxy.loseRequest('commit\0');
  const ours = store.writeMemos([{ name: 'a', version: 1, value: '1' }, { name: 'b', version: 0, value: '1' }]);
  while (proxy.lost() === 0) await direct.memos('');
  // Either waits for the lost transaction; the connection that is open usually writes before the one that opens.
  const theirs = direct.writeMemos([{ name: 'a', version: 1, value: '2' }]);
  expect(await theirs).toBe(!(await ours));
  expect((await direct.memos('')).map(({ name, value }) => name + value)).toEqual((await ours) ? ['a1', 'b1'] : ['a2']);
});

test.each([
  ['53100', 'the disk is full', /free space on the disk of the server/],
  ['58030', 'the disk failed to read or write', /check the disk of the server and its log/],
])('error %s of the disk is refused with a sentence, leaves nothing, and passes', async (code, reason, sentence) => {
  const { url, store } = await freshStore();
  const client = await connect(url);
  await client.query(`create function fail() returns trigger language plpgsql as
    $$ begin raise sqlstate '${code}' using message = 'could not extend file'; end $$`);
  const [first, second] = await born(store, {}, {});
  for (const changes of [[first!], [first!, second!]]) {
    await client.query('create constraint trigger fails after insert on stint.feed deferrable initially deferred for each row execute function fail()');
    await expect(store.commit({ changes })).rejects.toMatchObject({
      code: 'unavailable.store', message: expect.stringMatching(sentence) as string, detail: { reason },
    });
    await client.query('drop trigger fails on stint.feed');
    expect(await store.load(changes.map(({ after }) => after.id))).toEqual([]);
  }
  expect(await store.commit({ changes: [first!, second!] })).toEqual([true, true]);
});
