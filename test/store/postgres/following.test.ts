// Edges on PostgreSQL: what their commits wait for.
import { expect, test } from 'vitest';
import { closeEdges } from '../../../src/store/postgres/maintain/following.ts';
import type { Session } from '../../../src/store/postgres/sql/database.ts';
import { born, connect, freshStore } from './ground.ts';

test('edges are closed without a flush to the disk, except in the transaction of a caller', async () => {
  const { url, store } = await freshStore();
  const [deleted, follower] = await born(store, {}, {});
  const [{ id: followed }, { id }] = [deleted!.after, follower!.after];
  await store.commit({ changes: [follower!], whole: true, edges: [{ follower: id, followed, outcome: null, links: [], result: null }] });
  const client = await connect(url);
  const settingAfter = async (close: () => Promise<readonly number[]>): Promise<unknown> => {
    await client.query('begin');
    expect(await close()).toEqual([id]);
    const { rows } = await client.query<{ setting: string }>(`select current_setting('synchronous_commit') as setting`);
    await client.query('rollback');
    return rows[0]!.setting;
  };
  const run = async (text: string, values: unknown[]): Promise<unknown> => (await client.query(text, values)).rows;
  const session = { schema: 'stint', run } as unknown as Session;
  expect(await settingAfter(() => store.within(client).closeEdges([followed]))).toBe('on');
  expect(await settingAfter(() => closeEdges(session, [followed], true))).toBe('off');
});
