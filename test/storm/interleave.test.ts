// Pairs of transactions on PostgreSQL in every order of their statements.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { pairs } from './interleave/pairs.ts';
import { Stage } from './interleave/scene.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.on(await freshDatabase());
});
afterAll(() => stage[Symbol.asyncDispose]());

test.each(pairs)('in every order of their statements all holds: $name', async (pair) => {
  const { orders, wrong } = await stage.play(pair);
  console.log(`${pair.name}: ${orders} orders`);
  expect(wrong).toEqual([]);
  expect(orders).toBeGreaterThan(1);
}, 300_000);
