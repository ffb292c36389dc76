// Ages: collects the age of each job at its start.
import { expect, test } from 'vitest';
import { Ages } from '../../bench/ages.ts';
import { stampedInput } from '../../bench/payload.ts';

test('ages that arrive between two calls of take count for the second', async () => {
  const ages = new Ages();
  const start = (count: number): void => {
    for (let made = 0; made < count; made += 1) ages.start(stampedInput());
  };
  const first = ages.take(2);
  start(2);
  expect(await first).toHaveLength(2);
  start(3);
  const second = ages.take(4);
  start(1);
  expect(await second).toHaveLength(4);
});
