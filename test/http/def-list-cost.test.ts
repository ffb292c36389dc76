// What lists of definitions cost the store.
import { expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import type { HttpCall, StoreServices } from '../../src/http/handler.ts';
import { defRoutes } from '../../src/http/routes/defs.ts';
import type { Store } from '../../src/store/store.ts';

function counted(store: Store): { readonly store: Store; readonly calls: string[] } {
  const calls: string[] = [];
  const get = (target: Store, name: keyof Store): unknown => {
    const value: unknown = target[name];
    if (typeof value !== 'function') return value;
    return (...given: unknown[]): unknown => {
      if (name !== 'now') calls.push(name);
      return (value as (...args: unknown[]) => unknown).apply(target, given);
    };
  };
  return { store: new Proxy(store, { get: (target, name) => get(target, name as keyof Store) }), calls };
}

interface Listed {
  readonly names: readonly string[];
  readonly next: number | null;
  /** The names of the methods of the store that were called. */
  readonly calls: readonly string[];
}

/** An engine with definitions, and a function that lists them over HTTP. */
async function listing(count: number): Promise<{ engine: Engine; list: (query: object) => Promise<Listed> }> {
  const { store, calls } = counted(openStore('memory:'));
  const engine = new Engine({ store, types: [jobType('mail', { run: () => {} })] });
  onTestFinished(() => engine.close());
  const definitions = Array.from({ length: count }, (_, n) => ({ name: `d${n}`, type: 'mail' }));
  await engine.applyDefinitions({ definitions });
  const services = { engine } as unknown as StoreServices;
  const call = { principal: { visibility: 'full' } } as HttpCall;
  const list = async (query: object): Promise<Listed> => {
    calls.length = 0;
    const answer = await defRoutes.listDefs(services, { query } as never, call) as { items: { name: string }[]; next: number | null };
    return { names: answer.items.map(({ name }) => name), next: answer.next, calls: [...calls] };
  };
  return { engine, list };
}

test('a page costs as many queries as one definition', async () => {
  const { list } = await listing(25);
  await list({}); // a definition that was not read before is read
  const [one, first] = [await list({ limit: 1 }), await list({ limit: 10 })];
  expect([one.names.length, first.names.length]).toEqual([1, 10]);
  expect(first.calls).toEqual(one.calls);
  expect(first.calls.filter((name) => name === 'latestEnds')).toHaveLength(1);
  const second = await list({ limit: 10, after: first.next });
  const third = await list({ limit: 10, after: second.next });
  expect([second.names.length, third.names.length, third.next]).toEqual([10, 5, null]);
});

test('a filter by the last outcome costs a query per page of up to a thousand definitions', async () => {
  const { engine, list } = await listing(2_500);
  const { id } = await engine.createNamed({ def: 'd2400' }, {});
  await engine.stopJobRun(id);
  const { names, calls } = await list({ lastOutcome: 'STOPPED' });
  expect(names).toEqual(['d2400']);
  // Pages of 64, 128, 256, 512, 1,000 and 540 definitions; the last query is for the definition that is shown.
  expect(calls.filter((name) => name === 'latestEnds')).toHaveLength(7);
});

test('definitions that have not changed are not read again, and the others are', async () => {
  const { engine, list } = await listing(300);
  await list({ q: 'none' });
  expect(new Set((await list({ q: 'none' })).calls)).toEqual(new Set(['definitionVersions']));
  await engine.disable('d299');
  await engine.undefine('d298');
  expect((await list({ status: 'disabled' })).names).toEqual(['d299']);
  expect((await list({ q: '29' })).names).toEqual(expect.not.arrayContaining(['d298']));
  expect((await list({ q: '29' })).names).toHaveLength(12);
});
