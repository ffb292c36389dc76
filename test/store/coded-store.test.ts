// A store with encrypted payloads under the conformance suite: for its callers it is the store that it wraps.
import { describe, expect, test } from 'vitest';
import { show, topics } from '../../src/conformance/examples.ts';
import { NotApplicable, type Example, type Open, type Topic } from '../../src/conformance/world.ts';
import { encrypt } from '../../src/store/coded/encrypt.ts';
import { codedStore } from '../../src/store/coded/coded-store.ts';
import type { Store } from '../../src/store/store.ts';
import { systemClock } from '../../src/time/clock.ts';
import { bySize } from '../support/size.ts';
import { stores } from '../support/stores.ts';

const codec = encrypt({ keys: { k: new Uint8Array(32).fill(7) }, current: 'k' });
const coded = (store: Store): Store => codedStore(store, codec);
/** They search by input and by the messages of errors, which a store with a codec refuses. */
const searches = [
  'a search by input finds them',
  'an edit is visible in every read of the job',
  'random queries find the same jobs as the reference implementation of queries',
];

/** Every fourth example; in the proof all. */
const examplesOfRun = (examples: Topic['examples']): [string, Example][] =>
  Object.entries(examples)
    .filter(([title]) => !searches.includes(title))
    .filter((_, index) => index % bySize({ small: 8, ci: 1 }) === 0);

describe.each(stores.filter(({ name }) => name === 'SQLite'))('on $name', (kind) => {
  const open: Open = async (clock) => {
    const opened = await kind.open(clock);
    return { ...opened, store: coded(opened.store), again: async () => coded(await opened.again()) };
  };

  describe.each(topics)('$name', ({ examples }) => {
    test.each(examplesOfRun(examples))('%s', async (_, example) => {
      await show(open, example).catch((error: unknown) => {
        if (!(error instanceof NotApplicable)) throw error;
      });
    });
  });

  test('a search in encoded payloads is refused, not answered with nothing', async () => {
    const opened = await kind.open(systemClock);
    const store = coded(opened.store);
    const query = { input: { path: ['a'], equals: 1 } } as const;
    for (const wrong of [query, { error: 'x' }]) {
      await expect(store.find(wrong)).rejects.toMatchObject({ code: 'encoded.payload' });
      await expect(store.count(wrong)).rejects.toMatchObject({ code: 'encoded.payload' });
    }
    await opened.close();
  });
});
