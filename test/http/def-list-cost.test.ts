// What a list of definitions costs the store.
import { expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import type { HttpCall, StoreServices } from '../../src/http/handler.ts';
import { defRoutes } from '../../src/http/routes/defs.ts';
import type { Store } from '../../src/store/store.ts';

function counted(store: Store): { readonly store: Store; readonly count: () => number } {
  let calls = 0;
  const get = (target: Store, name: keyof Store): unknown => {
    const value: unknown = target[name];
    if (typeof value !== 'function') return value;
    return (...given: unknown[]): unknown => {
      if (name !== 'now') calls += 1;
      return (value as (...args: unknown[]) => unknown).apply(target, given);
    };
  };
  return { store: new Proxy(store, { get: (target, name) => get(target, name as keyof Store) }), count: () => calls };
}

test('a page costs two queries for each definition that it shows, and few more', async () => {
  const { store, count } = counted(openStore('memory:'));
  const engine = new Engine({ store, types: [jobType('mail', { run: () => {} })] });
  onTestFinished(() => engine.close());
  for (let n = 0; n < 25; n++) await engine.define(`d${n}`, 'mail', {}, { by: 'ada' });
  const services = { engine } as unknown as StoreServices;
  const call = { principal: { visibility: 'full' } } as HttpCall;
  const page = async (after?: number): Promise<readonly [names: number, next: number | null]> => {
    const { items, next } = (await defRoutes.listDefs(services, { query: { limit: 10, after } } as never, call)) as { items: unknown[]; next: number | null };
    return [items.length, next];
  };
  const before = count();
  const [shown, second] = await page();
  expect([shown, count() - before]).toEqual([10, expect.toSatisfy((calls: number) => calls < 2 * 10 + 10)]);
  const [more, third] = await page(second!);
  expect([more, await page(third!)]).toEqual([10, [5, null]]);
});
