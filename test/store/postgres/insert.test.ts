// New jobs: the statements that insert them rely on table `origin` to find the ids that are taken.
import { expect, test } from 'vitest';
import { firstRecordId } from '../../../src/model/record-id.ts';
import { born, connect, decided, freshStore, made } from './ground.ts';

test('a record that ended before table origin existed keeps its id', async () => {
  const { url, store } = await freshStore();
  const [record] = await made(store, { kind: 'pause', id: firstRecordId + 1 });
  const ended = decided(record!, { do: 'stop', code: 'user' }, store.now());
  expect(await store.commit({ changes: [ended] })).toEqual([true]);
  const client = await connect(url);
  await client.query(`update stint.ended set input = origin.input from stint.origin where origin.id = ended.id`);
  await client.query('delete from stint.origin');
  expect(await store.commit({ changes: await born(store, { kind: 'pause', id: firstRecordId + 1 }) })).toEqual([false]);
  expect(await store.load([firstRecordId + 1])).toEqual([ended.after]);
});
