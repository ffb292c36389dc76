// L3: an instance repairs claims in its name that it does not know.
import { expect, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import { seededRandom } from '../../src/random.ts';
import type { Store } from '../../src/store/store.ts';
import { CrashableStore } from '../../src/testing/crashable-store.ts';
import { VirtualClock } from '../../src/time/clock.ts';

const start = Date.UTC(2026, 0, 1);
const greet = jobType('greet', { run: () => 'hello' });

/** A store whose first claim is written and never answered. */
function withLostAnswer(store: Store): Store {
  let isLost = false;
  return new Proxy(store, {
    get: (target, name) => {
      if (typeof target[name as keyof Store] !== 'function') return undefined;
      const method = (target[name as keyof Store] as (...values: unknown[]) => Promise<unknown>).bind(target);
      if (name !== 'claim' || isLost) return method;
      return async (...values: unknown[]) => {
        const claimed = (await method(...values)) as readonly unknown[];
        if (claimed.length === 0) return claimed;
        isLost = true;
        throw new Error('no answer came');
      };
    },
  });
}

test('L3: jobs whose claim was written and not answered are released, and the attempt does not count', async () => {
  const clock = new VirtualClock(start);
  const store = withLostAnswer(openStore('memory:', { clock }));
  const engine = new Engine({ store, clock, types: [greet], random: seededRandom(1), instance: 'ann' });
  await engine.resume();
  const run = await engine.createJobRun(greet);
  await clock.advance(10_000);
  expect((await engine.history(run.id)).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
});

test('L3: an instance that restarts under its old name repairs the claims of its previous process as crashes', async () => {
  const clock = new VirtualClock(start);
  const store = openStore('memory:', { clock });
  const stuck = jobType('greet', { run: () => new Promise<string>(() => {}) });
  const crashable = new CrashableStore(store);
  const first = new Engine({ store: crashable.store, clock, types: [stuck], random: seededRandom(1), instance: 'ann' });
  await first.resume();
  const run = await first.createJobRun(stuck);
  await clock.advance(1_000);
  crashable.crash();

  const second = new Engine({ store, clock, types: [greet], random: seededRandom(2), instance: 'ann' });
  const resumed = second.resume();
  await clock.advance(60_000);
  await resumed;
  const job = await second.get(run.id);
  expect(job).toMatchObject({ state: 'ended', fate: 'succeeded', crashes: 1 });
});
