// Polling with a generous timeout: browser, server and engine share one busy machine.
import { expect, vi, type ExpectPollOptions } from 'vitest';
import { patienceMs } from './world.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

/** Polls until the expectation holds. */
export const eventually = <T>(ask: () => T | Promise<T>, options: ExpectPollOptions = {}) =>
  expect.poll(ask, { timeout: patienceMs, ...options });
