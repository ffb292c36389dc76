// Named limits as code declares them: which declarations and costs are refused, and what a run takes of each limit.
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { Engine, jobType, limit, RateLimited, Refusal } from '../../../src/index.ts';
import { rulesOfEntry, rulesOfType } from '../../../src/engine/declare/type-rules.ts';
import { testEngine } from '../../../src/testing/index.ts';
import { refused } from './kit.ts';

const openai = limit('openai', { rate: '500/1m', concurrency: 20 });
const perTenant = limit('tenant', { key: 'tenant', rate: '60/1m', burst: 10, concurrency: 2 });
const input = z.object({ tenant: z.string().optional(), tokens: z.number().optional() });

const code = (declare: () => unknown): string => {
  try {
    declare();
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
  return 'accepted';
};

describe('limit()', () => {
  test('fills in a burst of a tenth of the rate, at least 1', () => {
    expect(openai.values).toEqual({ rate: { count: 500, per: 60_000, burst: 50 }, concurrency: 20 });
    expect(limit('slow', { rate: '3/1h' }).values!.rate!.burst).toBe(1);
    expect(perTenant.values!.rate!.burst).toBe(10);
  });

  test('with a concurrency cannot be used by the runs and the tasks of one type, which would wait for each other', () => {
    const declare = (own: readonly ReturnType<typeof limit>[]) => () =>
      jobType('parts', { limits: own, taskLimits: own, taskDetails: () => [], taskResults: () => null });
    expect(code(declare([limit('slots', { concurrency: 5 })]))).toBe('malformed.option');
    expect(code(declare([limit('calls', { rate: '5/1s' })]))).toBe('accepted');
  });

  test('is closed for at most 24 hours, whatever another system answers', () => {
    expect(new RateLimited(openai, '365d').afterMs).toBe(86_400_000);
    expect(new RateLimited(openai, '30s').afterMs).toBe(30_000);
  });

  test('without values refers to a limit that is set elsewhere', () => {
    expect(limit('elsewhere').values).toBeNull();
  });

  test.each<[string, string, () => unknown]>([
    ['has a rate without a period', 'malformed.rate', () => limit('a', { rate: '5' as never })],
    ['has a burst of 0', 'malformed.number', () => limit('a', { rate: '5/s', burst: 0 })],
    ['has a concurrency that is not whole', 'malformed.number', () => limit('a', { concurrency: 1.5 })],
    ['has a burst without a rate', 'malformed.option', () => limit('a', { burst: 3, concurrency: 1 })],
    ['has an unknown option', 'malformed.option', () => limit('a', { rates: '5/s' } as never)],
    ['has a number as its key', 'malformed.option', () => limit('a', { concurrency: 1, key: 5 as never })],
    ['has a blank in its name', 'malformed.name', () => limit('a b', { concurrency: 1 })],
    ['is listed twice', 'malformed.option', () => jobType('t', { limits: [openai, openai], run: () => null })],
    ['is only a text', 'malformed.option', () => jobType('t', { limits: ['openai' as never], run: () => null })],
    ['is missing beside a cost', 'malformed.option', () => jobType('t', { cost: 'tokens', run: () => null })],
    ['is not the one of the cost', 'malformed.option', () =>
      jobType('t', { limits: [openai], cost: { other: 2 }, run: () => null })],
    ['has a cost of 0', 'limit.cost', () => jobType('t', { limits: [openai], cost: { openai: 0 }, run: () => null })],
    ['is null', 'malformed.option', () => jobType('t', { limits: [null as never], run: () => null })],
    ['is a text', 'malformed.option', () => jobType('t', { limits: ['openai' as never], run: () => null })],
    ['is not in a list', 'malformed.option', () => jobType('t', { limits: openai as never, run: () => null })],
    ...[true, {}, -1].map((cost): [string, string, () => unknown] => [
      `has the cost ${JSON.stringify(cost)}`, 'limit.cost',
      () => jobType('t', { limits: [openai], cost: { openai: cost as never }, run: () => null }),
    ]),
    ['has a cost above its burst', 'limit.cost', () =>
      jobType('t', { limits: [openai], cost: { openai: 51 }, run: () => null })],
  ])('that %s is refused as %s', (_, expected, declare) => {
    expect(code(declare)).toBe(expected);
  });

  test('that is declared twice with different values is refused when the engine is made', async () => {
    const one = jobType('one', { limits: [openai], run: () => null });
    const two = jobType('two', { limits: [limit('openai', { rate: '100/1m' })], run: () => null });
    const same = jobType('same', { limits: [limit('openai', { rate: '500/1m', concurrency: 20 })], run: () => null });
    const start = async (types: readonly typeof one[]): Promise<Engine> => (await testEngine({ types })).engine;
    expect(await refused(start([one, two]))).toBe('malformed.option');
    await (await start([one, same])).close();
  });
});

describe('what a run takes of its limits', () => {
  const byPath = jobType('by-path', { input, limits: [openai, perTenant], cost: { openai: 'tokens' }, run: () => null });
  const byCode = jobType('by-code', {
    input,
    limits: [openai, limit('tenant', { key: ({ tenant }) => tenant, concurrency: 2 })],
    cost: ({ tokens }) => ({ openai: tokens ?? 1 }),
    run: () => null,
  });

  test.each([['the code', rulesOfType(byPath)], ['the catalogue', rulesOfEntry(rulesOfType(byPath).entry)]])(
    'is computed from the paths by %s', (_, rules) => {
      expect(rules.limitUses({ tenant: 'acme', tokens: 2.5 })).toEqual([
        { name: 'openai', key: null, cost: 2.5 }, { name: 'tenant', key: 'acme', cost: 1 },
      ]);
      expect(rules.limitUses({})).toEqual([{ name: 'openai', key: null, cost: 1 }]);
      for (const tokens of [0, -1, NaN, Infinity, 51, '5']) {
        expect(code(() => rules.limitUses({ tokens }))).toBe('limit.cost');
      }
    },
  );

  test('is computed by functions only where the code is', () => {
    const rules = rulesOfType(byCode);
    expect(rules.limitUses({ tenant: 'acme', tokens: 3 })).toEqual([
      { name: 'openai', key: null, cost: 3 }, { name: 'tenant', key: 'acme', cost: 1 },
    ]);
    expect(code(() => rules.limitUses({ tokens: -3 }))).toBe('limit.cost');
    expect(code(() => rulesOfEntry(rules.entry).limitUses({ tokens: 3 }))).toBe('needs.code');
  });

  test.each([null, 'a', true, { openai: {} }, { other: 1 }])('cannot be the cost %j of a function', (cost) => {
    const { limitUses } = rulesOfType(jobType('odd', { limits: [openai], cost: () => cost as never, run: () => null }));
    expect(code(() => limitUses({}))).toMatch(/^(limit.cost|malformed.option)$/);
  });

  test('is nothing of a limit whose key is null', () => {
    const keyed = limit('tenant', { key: () => null as never, concurrency: 2 });
    expect(rulesOfType(jobType('nobody', { limits: [keyed], run: () => null })).limitUses({})).toEqual([]);
  });

  test('is one shared list if it does not depend on the input, so that runs are stored in bulk', () => {
    const { limitUses } = rulesOfType(jobType('same', { limits: [openai], run: () => null }));
    expect(limitUses({ a: 1 })).toBe(limitUses({ a: 2 }));
  });

  test('leaves the entry of a type without limits as it was', () => {
    expect(rulesOfType(jobType('none', { run: () => null })).entry).not.toHaveProperty('limits');
  });
});

test.each([
  ['limits', (engine: Engine) => engine.limits()],
  ['defineLimit', (engine: Engine) => engine.defineLimit('api', { concurrency: 1 }, { by: 'ada' })],
] as const)('%s can be the first call on a new store', async (_, call) => {
  await using engine = new Engine({ store: 'sqlite::memory:', types: [] });
  await expect(call(engine)).resolves.toBeDefined();
});
