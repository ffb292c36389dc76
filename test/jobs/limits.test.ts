// Named limits as records: declared by code, overridden by operators, with a history; and drafts that use them.
import { expect, test } from 'vitest';
import { Jobs } from '../../src/jobs.ts';
import { declareLimits, deleteLimit, overrideLimit, readLimit, readLimits } from '../../src/jobs/limits.ts';
import { parseGate } from '../../src/model/gate.ts';
import type { LimitValues } from '../../src/model/limit.ts';
import { isRefusal } from '../../src/refusal.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { recordId } from '../../src/store/record-id.ts';
import { VirtualClock } from '../../src/time/clock.ts';

const values: LimitValues = { rate: { count: 60, per: 60_000, burst: 6 }, concurrency: 20 };
const api = { name: 'api', keyed: false, values };

const newStore = (): MemoryStore => new MemoryStore(new VirtualClock(1_800_000_000_000));

const refusalOf = (error: unknown): unknown => (isRefusal(error) ? [error.code, error.message] : error);

test('a declared limit is stored once, and again only if the code changes', async () => {
  const store = newStore();
  await declareLimits(store, [api, { ...api, name: 'tenant', keyed: true }], 'engine 1');
  await declareLimits(store, [api], 'engine 2');
  expect(await readLimit(store, 'api')).toEqual({
    name: 'api', code: values, keyed: false, override: null, by: null, why: null, values, version: 1,
  });
  await declareLimits(store, [{ ...api, values: { ...values, concurrency: 5 } }], 'engine 2');
  expect(await readLimit(store, 'api')).toMatchObject({ values: { concurrency: 5 }, version: 2 });
  const keyed = new Map((await readLimits(store)).map((limit) => [limit.name, limit.keyed]));
  expect(keyed).toEqual(new Map([['api', false], ['tenant', true]]));
  expect((await store.history(recordId('limit', 'api'))).map(({ kind, by }) => [kind, by]))
    .toEqual([['created', 'engine 1'], ['edited', 'engine 2']]);
});

test('an override replaces values of the code until it is removed, and survives a new declaration', async () => {
  const store = newStore();
  await declareLimits(store, [api], 'engine');
  const overridden = await overrideLimit(store, 'api', { concurrency: 1 }, { by: 'ada', why: 'the API is slow' });
  expect(overridden).toMatchObject({ values: { ...values, concurrency: 1 }, by: 'ada', why: 'the API is slow' });
  await declareLimits(store, [{ ...api, values: { ...values, rate: null } }], 'engine');
  expect((await readLimit(store, 'api'))!.values).toEqual({ rate: null, concurrency: 1 });
  expect(await overrideLimit(store, 'api', null, { by: 'bob' }))
    .toMatchObject({ values: { rate: null, concurrency: 20 }, override: null, by: null, why: null });
});

test('an override of a limit that nobody declared is refused', async () => {
  const error = await overrideLimit(newStore(), 'none', { concurrency: 1 }, { by: 'ada' }).catch(refusalOf);
  expect(error).toEqual(['limit.unknown', expect.stringMatching(/^there is no limit "none": start a program that declares it, or create it/)]);
  expect(await readLimit(newStore(), 'none')).toBeNull();
});

test('a draft says which limits its job uses, each once, with a cost above 0', async () => {
  const jobs = new Jobs(newStore());
  const use = { name: 'api', key: null, cost: 2 };
  const { job } = await jobs.create({ type: 'mail', limitUses: [use, { name: 'tenant', key: 'a', cost: 1 }] }, 'test');
  expect(parseGate(job!.gate!).uses).toEqual([use, { name: 'tenant', key: 'a', cost: 1 }]);
  for (const wrong of [[use, use], [{ ...use, cost: 0 }], [{ ...use, cost: NaN }], [{ ...use, key: '' }], [{ ...use, name: '' }]]) {
    const error = await jobs.create({ type: 'mail', limitUses: wrong }, 'test').catch(refusalOf);
    expect(error).toEqual([expect.stringMatching(/^(malformed\.|limit\.cost)/), expect.any(String)]);
  }
});

test('a limit that an instance declares while it is deleted is restored', async () => {
  const store = newStore();
  await declareLimits(store, [api], 'a');
  let checks = 0;
  const error = await deleteLimit(store, 'api', async () => (checks += 1) === 2).catch(refusalOf);
  expect(error).toMatchObject(['declared.limit', expect.stringContaining('living instance')]);
  expect(await readLimit(store, 'api')).toMatchObject({ code: api.values });
});
