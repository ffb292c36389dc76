// Patience: a browser, a server and an engine on one busy machine take their time, and no test is about how long.
import { expect, vi, type ExpectPollOptions } from 'vitest';
import { patienceMs } from './world.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** Asks again until the answer is right. */
export const eventually = <T>(ask: () => T | Promise<T>, options: ExpectPollOptions = {}) =>
  expect.poll(ask, { timeout: patienceMs, ...options });
