// The reaction of the heartbeat thread to a blocked event loop, on every store, without a thread.
import { describe, expect } from 'vitest';
import type { LimitedAttempt } from '../../src/engine/attempt/time-limits.ts';
import { BlockedLoop } from '../../src/open/blocked-loop.ts';
import { minute, testOn } from '../jobs/world.ts';
import { stores } from '../support/stores.ts';

const instance = 'mill';
const about = { host: 'here', pid: 1, version: '0', types: [], slots: 3, busy: 0, draining: false };

describe.each(stores)('a blocked event loop on $name', (kind) => {
  const test = testOn(kind);

  test('gives up its jobs at the next check if the store failed at the first', async ({ world }) => {
    await world.store.beat({ id: instance, leaseMs: minute, about, holds: [] });
    for (let count = 0; count < 3; count++) await world.create();
    const held = await world.claim({ holder: instance, leaseMs: null, limit: 3 });
    let isOut = true;
    const store = new Proxy(world.store, {
      get: (target, name) => {
        if (name === 'heldUnderLeaseOf' && isOut) return () => Promise.reject(new Error('the store is away'));
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === 'function' ? member.bind(target) as unknown : member;
      },
    });
    const calls: string[] = [];
    const blockedLoop = new BlockedLoop({
      store, instance, leaseMs: minute, onGivingUp: () => calls.push('giving up'), onGivenUp: () => calls.push('given up'),
    });
    const [blocker, ...others] = held;
    const { id, fence } = blocker!;
    const running: LimitedAttempt[] = [{ id, fence, timeoutMs: 1_000, name: 'blocker', isInHandler: true }];
    await blockedLoop.check(running, 0);
    await blockedLoop.check(running, 2_000);
    await expect(blockedLoop.check(running, 30_000)).rejects.toThrow('the store is away');
    expect(blockedLoop.isGivenUp).toBe(false);

    isOut = false;
    const report = await blockedLoop.check(running, 31_000);
    expect(new Set(report?.givenUp)).toEqual(new Set(others.map((job) => job.id)));
    expect(blockedLoop.isGivenUp).toBe(true);
    for (const other of others) expect(await world.events(other.id)).toEqual(['created', 'claimed', 'released']);
    expect(calls).toEqual(['giving up', 'given up', 'giving up', 'given up']);
    expect(await blockedLoop.check(running, 32_000)).toBeNull();
  });
});
