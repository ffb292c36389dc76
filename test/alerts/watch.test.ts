// Watching on every store: the state of an alert, its messages and its cursor move in one commit, whoever watches.
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchRuns } from '../../src/jobs/alert-watch.ts';
import { readAlert, readAlerts, writeAlerts } from '../../src/jobs/alerts.ts';
import { Jobs } from '../../src/jobs.ts';
import { jobAlert, type AlertMessage, type AlertOptions } from '../../src/index.ts';
import { alertTypeName } from '../../src/model/alert.ts';
import { VirtualClock } from '../../src/time/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { stores } from '../support/stores.ts';

const asker = { by: 'test' };
const plain = { to: { webhook: 'https://example.com/secret' } } as const;
const failed = (fence: number) =>
  ({ do: 'fail', fence, error: { code: 'unknown', message: 'no' }, retryable: false }) as const;
const always = (): boolean => true;

describe.each(stores)('on $name', (kind) => {
  async function world(options: Omit<AlertOptions, 'to'> = { when: 'failed' }) {
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const opened = await kind.open(clock);
    onTestFinished(() => opened.close());
    const jobs = new Jobs(opened.store);
    await declare(opened.store, options);
    return { clock, jobs, store: opened.store, again: async () => new Jobs(await opened.again()) };
  }

  const declare = (store: Store, options: Omit<AlertOptions, 'to'>, name = 'watch'): Promise<void> =>
    writeAlerts(store, [name], (_, before) =>
      ({ override: before?.override ?? null, by: null, why: null, code: jobAlert(name, { ...options, ...plain }).spec }));

  const create = async (jobs: Jobs, type = 'mail', def?: string): Promise<number> =>
    (await jobs.create({ type, ...(def === undefined ? {} : { def }) }, 'test')).id;

  async function claim(jobs: Jobs) {
    return jobs.claim({ kinds: ['run'], names: { exact: ['mail', 'other'] }, limit: 1_000, holder: 'h', leaseMs: 86_400_000 });
  }

  async function end(jobs: Jobs, fate: 'succeed' | 'fail', count = 1, type = 'mail', def?: string): Promise<void> {
    for (let made = 0; made < count; made += 1) await create(jobs, type, def);
    for (const { id, fence } of await claim(jobs)) {
      await jobs.conclude([{ job: id, command: fate === 'succeed' ? { do: 'succeed', fence } : failed(fence) }], asker);
    }
  }

  async function watch(jobs: Jobs): Promise<void> {
    while ((await watchRuns(jobs, 'watcher', always)).hasMore);
  }

  const messages = async (jobs: Jobs): Promise<AlertMessage[]> =>
    (await jobs.find({ types: [alertTypeName] }, { order: 'oldest', limit: 1_000 })).jobs
      .map(({ input }) => JSON.parse(input) as AlertMessage);
  const told = async (jobs: Jobs): Promise<string[]> =>
    (await messages(jobs)).flatMap(({ changes }) => changes.map(({ subject, isFailing }) => `${subject} ${isFailing ? 'failing' : 'well'}`));

  test('a failure and the recovery after it are sent once each', async () => {
    const { jobs, clock } = await world();
    await end(jobs, 'fail', 3);
    await watch(jobs);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['type mail failing']);
    clock.jump(60_000);
    await end(jobs, 'succeed');
    await watch(jobs);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['type mail failing', 'type mail well']);
  });

  test('failures of watched definitions are told apart, and others are not sent', async () => {
    const { jobs } = await world({ when: 'failed', definitions: ['night*'] });
    await end(jobs, 'fail', 1, 'mail', 'nightly');
    await end(jobs, 'fail', 1, 'mail', 'daily');
    await end(jobs, 'fail', 1, 'other');
    await watch(jobs);
    expect(await told(jobs)).toEqual(['definition nightly failing']);
  });

  test('what ended before the alert existed is not sent', async () => {
    const { jobs, store, clock } = await world({ when: 'failed', types: ['none'] });
    await end(jobs, 'fail');
    clock.jump(1_000);
    await declare(store, { when: 'failed' }, 'second');
    await watch(jobs);
    expect(await told(jobs)).toEqual([]);
    await end(jobs, 'fail');
    await watch(jobs);
    expect((await messages(jobs)).map(({ alert }) => alert)).toEqual(['second']);
  });

  test('an alert that is created while a watcher reads misses no failure', async () => {
    const { jobs, store } = await world({ when: 'failed', types: ['none'] });
    const slow = new Jobs(new Proxy(store, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown;
        if (name === 'eventsAfter') return async (...given: Parameters<Store['eventsAfter']>) => {
          await declare(store, { when: 'failed' }, 'second');
          await end(jobs, 'fail');
          return target.eventsAfter(...given);
        };
        return typeof value === 'function' ? value.bind(target) as unknown : value;
      },
    }));
    await watchRuns(slow, 'slow', always);
    await watch(jobs);
    expect((await messages(jobs)).map(({ alert }) => alert)).toEqual(['second']);
  });

  test('several watchers at once send each change once', async () => {
    const { jobs, again, clock } = await world();
    const watchers = [jobs, await again(), await again()];
    for (let round = 0; round < 6; round += 1) {
      await end(jobs, round % 2 === 0 ? 'fail' : 'succeed', 5);
      await Promise.all(watchers.map((each) => watch(each)));
      clock.jump(60_000);
    }
    await watch(jobs);
    const sent = await messages(jobs);
    expect(sent.map(({ number, from, to }) => [number, from, to])).toEqual([1, 2, 3, 4, 5, 6].map((n) => [n, n, n]));
  });

  test('a watcher that does not lead only looks', async () => {
    const { jobs } = await world();
    await end(jobs, 'fail');
    const { cursorVersion } = await watchRuns(jobs, 'follower', () => false);
    expect([cursorVersion, await told(jobs)]).toEqual([1, []]);
  });

  test('a late run is sent when it is late, and its start as the recovery', async () => {
    const { jobs, clock } = await world({ when: { late: '10m' }, every: '1s' });
    await create(jobs);
    clock.jump(9 * 60_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual([]);
    clock.jump(2 * 60_000);
    await watch(jobs);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['type mail failing']);
    await claim(jobs);
    clock.jump(1_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['type mail failing', 'type mail well']);
  });

  test('a run that takes too long is sent while it runs', async () => {
    const { jobs, clock } = await world({ when: { longerThan: '1h' }, every: '1s' });
    await create(jobs, 'mail', 'nightly');
    clock.jump(2 * 3_600_000);
    const [run] = await claim(jobs);
    clock.jump(3_599_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual([]);
    clock.jump(2_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['definition nightly failing']);
    await jobs.conclude([{ job: run!.id, command: { do: 'succeed', fence: run!.fence } }], asker);
    clock.jump(1_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['definition nightly failing', 'definition nightly well']);
  });

  test('a message that fails to be sent is no failure that an alert watches', async () => {
    const { jobs, clock } = await world();
    await end(jobs, 'fail');
    await watch(jobs);
    const [run] = await jobs.claim({ kinds: ['run'], names: { exact: [alertTypeName] }, limit: 1, holder: 'h', leaseMs: 60_000 });
    await jobs.conclude([{ job: run!.id, command: failed(run!.fence) }], asker);
    clock.jump(60_000);
    await watch(jobs);
    expect(await told(jobs)).toEqual(['type mail failing']);
  });

  test('an alert that is edited to watch something else forgets what was failing, and goes on counting', async () => {
    const { jobs, store, clock } = await world();
    await end(jobs, 'fail');
    await watch(jobs);
    await declare(store, { when: 'failed', types: ['other'] });
    expect((await readAlert(store, 'watch')).state).toMatchObject({ subjects: {}, changes: 1, messages: 1 });
    clock.jump(60_000);
    await end(jobs, 'fail', 1, 'other');
    await watch(jobs);
    expect((await messages(jobs)).map(({ number, from, to }) => [number, from, to])).toEqual([[1, 1, 1], [2, 2, 2]]);
  });

  test('the cursor exists while there are alerts', async () => {
    const { store } = await world();
    expect((await readAlerts(store)).cursor).not.toBeNull();
    await writeAlerts(store, ['watch'], () => null);
    expect(await store.memos('')).toEqual([]);
  });
});
