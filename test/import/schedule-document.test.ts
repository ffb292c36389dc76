// Schedules of another system as one document: refused ones are left out, at a cost that grows with their number.
import { expect, test } from 'vitest';
import { Engine } from '../../src/index.ts';
import { planSchedules } from '../../src/import/schedule-document.ts';
import type { ForeignSchedule } from '../../src/import/source.ts';
import { silent } from '../../src/logger.ts';

const daily = (name: string, hour = 3): ForeignSchedule => ({ name, queue: 'mail', schedule: { cron: `0 ${hour} * * *` }, payload: null });

async function planned(schedules: readonly ForeignSchedule[]) {
  await using engine = new Engine({ store: 'memory:', logger: silent });
  let entries = 0;
  const plan = engine.planDefinitions.bind(engine);
  engine.planDefinitions = (document, options) => {
    entries += document.definitions!.length;
    return plan(document, options);
  };
  return { ...(await planSchedules(engine, schedules, (queue) => queue)), entries };
}

test('refused schedules are left out, and each schedule is planned a few times, however many are refused', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `s${index}`);
  const { document, plan, refused, entries } = await planned(names.map((name, index) => daily(name, index % 2 === 0 ? 3 : 99)));
  expect(document.definitions!.map(({ name }) => name)).toEqual(names.filter((_, index) => index % 2 === 0));
  expect(plan.definitions).toHaveLength(20);
  expect(refused).toHaveLength(20);
  expect(refused[0]).toMatchObject({ name: 's1', code: 'malformed.cron' });
  expect(entries).toBeLessThanOrEqual(3 * names.length);
});

test('schedules without a refusal are planned once', async () => {
  expect(await planned([daily('a'), daily('b')])).toMatchObject({ entries: 2, refused: [] });
});

test('of schedules with one name the first counts', async () => {
  const { document, refused } = await planned([daily('a', 1), daily('b'), daily('a', 2)]);
  expect(document.definitions).toMatchObject([{ name: 'a', schedules: [{ cron: '0 1 * * *' }] }, { name: 'b' }]);
  expect(refused).toMatchObject([{ name: 'a', code: 'malformed.document', message: expect.stringContaining('is used twice') as string }]);
});
