// Watching on every store: the state of an alert, its messages and its cursor move in one commit, whoever watches.
import { describe, expect, onTestFinished, test } from 'vitest';
import { watchRuns } from '../../src/jobs/alert-watch.ts';
import { isInUse, readAlert, writeAlerts } from '../../src/jobs/alerts.ts';
import { Jobs } from '../../src/jobs.ts';
import { Engine, jobAlert, type AlertMessage, type AlertOptions } from '../../src/index.ts';
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

  test('a definition that has another type now recovers, too', async () => {
    const { jobs, clock, store } = await world();
    const engine = new Engine({ store, clock });
    await engine.define('nightly', 'mail', {}, asker);
    await end(jobs, 'fail', 1, 'mail', 'nightly');
    await watch(jobs);
    await engine.undefine('nightly', asker);
    await engine.define('nightly', 'other', {}, asker);
    clock.jump(60_000);
    await end(jobs, 'succeed', 1, 'other', 'nightly');
    await watch(jobs);
    expect(await told(jobs)).toEqual(['definition nightly failing', 'definition nightly well']);
  });

  test('a definition that has not failed for a month is forgotten, without a message', async () => {
    const { jobs, clock, store } = await world();
    await end(jobs, 'fail', 1, 'mail', 'nightly');
    await watch(jobs);
    clock.jump(30 * 86_400_000);
    await watch(jobs);
    expect((await readAlert(store, 'watch')).state).toMatchObject({ subjects: {}, changes: 1 });
    await end(jobs, 'succeed', 1, 'mail', 'nightly');
    await watch(jobs);
    expect(await told(jobs)).toEqual(['definition nightly failing']);
  });

  test('a run that was deleted before it was seen is not taken for one without a definition', async () => {
    const { jobs } = await world();
    await end(jobs, 'fail', 1, 'mail', 'nightly');
    const { jobs: [run] } = await jobs.find({ types: ['mail'] }, {});
    await jobs.delete(run!.id, asker);
    await watch(jobs);
    expect(await told(jobs)).toEqual([]);
  });

  test('among more late runs than are read, a definition without any recovers', async () => {
    const { jobs, clock } = await world({ when: { late: '10m' }, every: '1s' });
    await create(jobs, 'mail', 'nightly');
    await create(jobs, 'mail', 'weekly');
    await jobs.createMany(Array.from({ length: 1_001 }, () => ({ type: 'mail' })), 'test');
    clock.jump(11 * 60_000);
    await watch(jobs);
    expect((await told(jobs)).sort()).toEqual(['definition nightly failing', 'definition weekly failing', 'type mail failing']);
    const [nightly] = await jobs.claim({ kinds: ['run'], names: { exact: ['mail'] }, limit: 1, holder: 'h', leaseMs: 60_000 });
    expect(nightly!.def).toBe('nightly');
    clock.jump(1_000);
    await watch(jobs);
    expect((await told(jobs)).slice(3)).toEqual(['definition nightly well']);
  });

  test('all alerts for late runs share one search', async () => {
    const { jobs, store, clock } = await world({ when: { late: '10m' }, every: '1s' });
    await declare(store, { when: { late: '20m' }, every: '1s' }, 'later');
    await create(jobs);
    let searches = 0;
    const counting = new Jobs(intercepted(store, 'oldestDue', () => void (searches += 1)));
    clock.jump(15 * 60_000);
    await watch(counting);
    expect([searches, (await messages(jobs)).map(({ alert }) => alert)]).toEqual([1, ['watch']]);
    clock.jump(10 * 60_000);
    await watch(counting);
    expect((await messages(jobs)).map(({ alert }) => alert)).toEqual(['watch', 'later']);
  });

  test('an alert that is deleted and created anew while a watcher looks keeps its new settings', async () => {
    const { jobs, store, clock } = await world({ when: { late: '10m' } });
    await create(jobs);
    clock.jump(11 * 60_000);
    await watchRuns(jobs, 'first', () => false);
    const slow = new Jobs(intercepted(store, 'oldestDue', async () => {
      await writeAlerts(store, ['watch'], () => null);
      await declare(store, { when: { late: '1d' } });
    }));
    // The run was created before the alert: without events, only the state of the alert would be written.
    await watchRuns(jobs, 'reader', always);
    await writeAlerts(store, ['watch'], () => null);
    await declare(store, { when: { late: '10m' } });
    await watchRuns(slow, 'slow', always);
    expect((await readAlert(store, 'watch')).spec.when).toEqual({ lateMs: 86_400_000 });
  });

  test('the cursor is in use while there are alerts', async () => {
    const { store } = await world();
    const cursors = async (): Promise<boolean[]> => (await store.memos('alert-cursor')).map(isInUse);
    expect(await cursors()).toEqual([true]);
    await writeAlerts(store, ['watch'], () => null);
    expect([await cursors(), await store.memos('alert/')]).toEqual([[false], []]);
    await declare(store, { when: 'failed' });
    expect(await cursors()).toEqual([true]);
  });
});

/** A store that does something before it answers a call. */
const intercepted = (store: Store, name: 'oldestDue', before: () => unknown): Store =>
  new Proxy(store, {
    get: (target, called) => {
      const value = Reflect.get(target, called) as unknown;
      if (called === name) return async (...given: Parameters<Store[typeof name]>) => (await before(), target[name](...given));
      return typeof value === 'function' ? value.bind(target) as unknown : value;
    },
  });
