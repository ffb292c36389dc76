// Contradictions between the tables of the PostgreSQL store: each is planted by SQL, and `verify` finds it.
import { expect, test } from 'vitest';
import type { PostgresStore } from '../../../src/store/postgres/store.ts';
import { verify } from '../../../src/verify.ts';
import { claimed, connect, decided, freshStore, made, many } from './ground.ts';

/** A job that waits (1), four jobs that run in one claim (2 to 5), and an ended one of the same claim (6). */
async function storeInUse(): Promise<{ store: PostgresStore; plant: (sql: string) => Promise<unknown> }> {
  const { url, store } = await freshStore();
  await made(store, { type: 'waits' });
  await made(store, ...many(5, { type: 'runs' }));
  const running = await claimed(store, { names: { exact: ['runs'] } });
  const last = running.find(({ id }) => id === 6)!;
  await store.commit({ changes: [decided(last, { do: 'succeed', fence: last.fence }, store.now())] });
  const client = await connect(url);
  return { store, plant: (sql) => client.query(`set search_path to stint; ${sql}`) };
}

const findings = async (store: PostgresStore): Promise<string[]> =>
  (await Array.fromAsync(verify(store, { patienceMs: 0 })))
    .filter(({ invariant }) => invariant === 'S38')
    .map(({ sentence }) => sentence);

/** Inserts a row of `job` for a job, as it was created. */
const openRow = (id: number): string => `insert into job (id, version, created, priority, due, fence, admitted,
    cancel_asked, kind, type, state, phase)
  select id, version, created, priority, due, fence, 0, 0, kind, type, 'pending', phase from origin where id = ${id}`;

test('a store in use has none', async () => {
  const { store } = await storeInUse();
  expect(await findings(store)).toEqual([]);
});

test.each([
  ['job 6 is both open and ended', openRow(6)],
  ['job 3 runs in a claim, and has an open row of its own', openRow(3)],
  ['job 4 runs in several claims', `insert into claim (first, last, xid, remaining, holder, line, ids)
    select 4, 4, xid, 1, holder, line, array[4] from claim`],
  ['the claim of job 2 counts other jobs than those that run in it', 'update claim set remaining = 5'],
  ['the origin of job 1 is missing', 'delete from origin where id = 1'],
  ['the origin of job 5 is missing', 'delete from origin where id = 5'],
  ['the origin of job 6 is missing', 'delete from origin where id = 6'],
  ['job 1 has an origin, and is neither open nor ended', 'delete from job where id = 1'],
])('"%s" is found', async (sentence, sql) => {
  const { store, plant } = await storeInUse();
  await plant(sql);
  expect(await findings(store)).toEqual([sentence]);
});
