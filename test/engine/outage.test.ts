// An engine whose store does not answer, and its recovery.
import { expect, test } from 'vitest';
import { Engine, jobType, openStore } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import { VirtualClock } from '../../src/testing/index.ts';

const lease = '15s';
const leaseMs = 15_000;

type Method = 'beat' | 'claim' | 'commit' | 'leave' | 'migrate';

/** A store in memory whose calls can hang or fail. */
class Shaky {
  readonly store: Store;
  #waiting: (() => void)[] = [];
  readonly #broken = new Map<Method, 'hangs' | 'fails'>();

  constructor(real: Store) {
    this.store = new Proxy(real, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        const method = member as (...given: unknown[]) => unknown;
        return (...values: unknown[]) => this.#call(name as Method, () => method.apply(target, values));
      },
    });
  }

  break(method: Method, how: 'hangs' | 'fails'): void {
    this.#broken.set(method, how);
  }

  mend(): void {
    this.#broken.clear();
    for (const go of this.#waiting.splice(0)) go();
  }

  #call(method: Method, call: () => unknown): unknown {
    const how = this.#broken.get(method);
    if (how === undefined) return call();
    if (how === 'fails') return Promise.reject(new Error('the store is away'));
    return new Promise((_, reject) => this.#waiting.push(() => reject(new Error('the connection was lost'))));
  }
}

async function aWorld() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const shaky = new Shaky(openStore('memory:', { clock }));
  const said: string[] = [];
  const type = jobType('sleeper', {
    run: async ({ signal, fence }) => {
      if (fence > 1) return 'awake';
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve());
      });
      said.push(`${(signal.reason as Error).name} after ${clock.monotonic()} ms`);
      return 'too late';
    },
  });
  const quick = jobType('quick', { run: () => 'done' });
  const engine = new Engine({ store: shaky.store, clock, lease, types: [type, quick], instance: 'ann' });
  const resumed = engine.resume();
  await clock.advance(0);
  await resumed;
  return { clock, shaky, said, type, quick, engine };
}

const failures = ['hangs', 'fails'] as const;

test.each(failures)('when the heartbeat %s, handlers are aborted in time, and the job is released', async (how) => {
  const { clock, shaky, said, type, engine } = await aWorld();
  const run = await engine.createJobRun(type);
  await clock.advance(1_000);
  shaky.break('beat', how);
  await clock.advance(leaseMs);
  expect(said).toHaveLength(1);
  const [reason, after] = said[0]!.split(' after ');
  expect(reason).toBe('LeaseLost');
  expect(parseFloat(after!)).toBeLessThan(leaseMs);
  shaky.mend();
  await clock.advance(30_000);

  const kinds = (await run.events()).map(({ kind }) => kind);
  expect(kinds).toEqual(['created', 'claimed', 'released', 'claimed', 'succeeded']);
  expect(await run.get()).toMatchObject({ attempt: 1, result: '"awake"' });
});

test('an outcome is retried until the store accepts it', async () => {
  const { clock, shaky, quick, engine } = await aWorld();
  const run = await engine.createJobRun(quick);
  shaky.break('commit', 'fails');
  await clock.advance(10_000);
  expect(await run.get()).toMatchObject({ state: 'running' });
  shaky.mend();
  await clock.advance(6_000);

  expect((await run.events()).map(({ kind }) => kind)).toEqual(['created', 'claimed', 'succeeded']);
});

test('after a long outage jobs are claimed again within seconds', async () => {
  const { clock, shaky, quick, engine } = await aWorld();
  const run = await engine.createJobRun(quick, { delay: '5m' });
  shaky.break('beat', 'fails');
  shaky.break('claim', 'fails');
  await clock.advance(600_000);
  shaky.mend();
  await clock.advance(3_000);

  expect(await run.get()).toMatchObject({ state: 'ended', fate: 'succeeded' });
});

test('an engine that closes does not wait without limit for an unreachable store', async () => {
  const { clock, shaky, quick, engine } = await aWorld();
  await engine.createJobRun(quick);
  shaky.break('commit', 'fails');
  shaky.break('leave', 'fails');
  await clock.advance(100);
  let isClosed = false;
  const closed = engine.close({ patience: '1s' }).then(() => (isClosed = true));
  await clock.advance(1_000 + leaseMs - 1);
  expect(isClosed).toBe(false);
  await clock.advance(5_000);

  expect(await closed).toBe(true);
});

test('L2: an engine whose store was unreachable at the start works at the next resume', async () => {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const shaky = new Shaky(openStore('memory:', { clock }));
  const greet = jobType('greet', { run: () => 'hello' });
  const engine = new Engine({ store: shaky.store, clock, types: [greet], instance: 'ann' });
  shaky.break('migrate', 'fails');
  await expect(engine.resume()).rejects.toThrow('the store is away');
  shaky.mend();
  await engine.resume();
  const run = await engine.createJobRun(greet);
  await clock.advance(1_000);
  expect(await engine.get(run.id)).toMatchObject({ fate: 'succeeded' });
});
