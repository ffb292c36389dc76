/** The heartbeat thread: watches the main thread's beats and beats in its stead while it is silent. */
import { workerData } from 'node:worker_threads';
import type { HeartData } from './heart.ts';
import { openStore } from './store.ts';
import type { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';

const { url, instance: id, leaseMs, stallMs, about, beats } = workerData as HeartData;

/** Often enough that one missed look leaves time for the next before the lease is over. */
const lookMs = leaseMs / 6;

async function watch(): Promise<void> {
  let store: Store | null = null;
  let count = Atomics.load(beats, 0);
  let changedAt = systemClock.monotonic();
  while (Atomics.load(beats, 1) === 0) {
    await systemClock.sleep(lookMs);
    const now = systemClock.monotonic();
    if (Atomics.load(beats, 0) !== count) [count, changedAt] = [Atomics.load(beats, 0), now];
    const silence = now - changedAt;
    if (silence < leaseMs / 3 + lookMs || silence > stallMs) continue;
    store ??= openStore(url);
    await beat(store);
  }
}

/** A store that cannot be reached is tried again at the next look; the main thread tells of the outage. */
async function beat(store: Store): Promise<void> {
  try {
    await store.beat({ id, leaseMs, about, holds: [] });
  } catch {
    return;
  }
}

void watch();
