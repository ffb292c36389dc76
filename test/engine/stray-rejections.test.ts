// Stray rejections: which handler left a promise unhandled, and what a handler leaves of its asynchronous context.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { captureStrayRejections, watchStrayRejections } from '../../src/engine/attempt/stray-rejections.ts';
import { turn } from '../../src/time/clock.ts';

/** Those of the test runner would count each rejection as a failure. */
let others: NodeJS.UnhandledRejectionListener[] = [];

beforeEach(() => {
  others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
});

afterEach(() => {
  for (const listener of others) process.on('unhandledRejection', listener);
});

test('each stray rejection is that of the handler that caused it, also after it has returned', async () => {
  const stopWatching = watchStrayRejections();
  const seen: string[] = [];
  const call = (name: string, reject: () => void): void =>
    captureStrayRejections((error) => seen.push(`${name}: ${String(error)}`), reject);

  call('first', () => void Promise.reject('at once'));
  call('second', () => void turn().then(() => Promise.reject('later')));
  call('third', () => void (async () => {
    await Promise.all([turn(), turn()]);
    throw new Error('last');
  })());
  for (let turns = 0; turns < 5; turns++) await turn();
  stopWatching();

  expect(seen.sort()).toEqual(['first: at once', 'second: later', 'third: Error: last']);
});

test('what a handler enters by enterWith ends with its call, and what it has started keeps it', async () => {
  const tenant = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const handler = (): void => {
    tenant.enterWith('acme');
    void turn().then(() => seen.push(tenant.getStore()));
  };
  tenant.run('outside', () => {
    captureStrayRejections(() => {}, handler);
    seen.push(tenant.getStore());
    captureStrayRejections(() => {}, () => seen.push(tenant.getStore()));
    expect(() => captureStrayRejections(() => {}, () => {
      tenant.enterWith('thrown');
      throw new Error('no');
    })).toThrow('no');
    seen.push(tenant.getStore());
  });
  await turn();
  await turn();

  expect(seen).toEqual(['outside', 'outside', 'outside', 'acme']);
});
