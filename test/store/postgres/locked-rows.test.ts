// The rows that a claim has locked are found by the ids of their jobs, in whatever order they are asked for.
import { expect, test } from 'vitest';
import { LockedRows } from '../../../src/store/postgres/write/locked-rows.ts';

const rows = [7, 3, 9, 4].map((id) => ({ id, row_ctid: `(0,${id})`, is_fresh: id !== 9 }));

test.each([
  ['in their order, twice', [7, 3, 9, 4, 7, 3, 9, 4]],
  ['without some of them', [7, 9, 4, 7, 3]],
  ['in the order of ids', [3, 4, 7, 9]],
  ['from the end', [4, 9, 3, 7]],
  ['one of them again and again', [3, 3, 7, 7, 7]],
])('%s', (_, ids) => {
  const locked = new LockedRows(rows);
  expect(ids.map((id) => [locked.ctidOf(id), locked.isFresh(id)])).toEqual(ids.map((id) => [`(0,${id})`, id !== 9]));
  const walked = new LockedRows(rows);
  expect(ids.map((id) => walked.ctidOf(id))).toEqual(ids.map((id) => `(0,${id})`));
});
