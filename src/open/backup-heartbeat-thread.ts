/** The entry of the heartbeat thread: counts the beats of the main thread, and beats in its place when they stop. */
import { parentPort, workerData } from 'node:worker_threads';
import type { HeartbeatThreadData } from './backup-heartbeat.ts';
import { openStore } from './store.ts';
import type { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';

const { url, instance: id, leaseMs, stallMs, about, beats } = workerData as HeartbeatThreadData;

/** Often enough to notice missing beats while most of the lease is left. */
const silencePollMs = leaseMs / 12;
/** The interval of the main thread's beats. */
const beatMs = leaseMs / 3;

async function watch(): Promise<void> {
  let store: Store | null = null;
  let count = Atomics.load(beats, 0);
  let changedAt = systemClock.monotonic();
  let beatAt = changedAt;
  while (Atomics.load(beats, 1) === 0) {
    store ??= opened();
    await systemClock.sleep(silencePollMs);
    const now = systemClock.monotonic();
    if (Atomics.load(beats, 0) !== count) [count, changedAt] = [Atomics.load(beats, 0), now];
    const silence = now - changedAt;
    if (silence < beatMs + silencePollMs || silence > stallMs || now - beatAt < beatMs / 2) continue;
    if (store && (await beat(store))) beatAt = now;
  }
}

/** Opens the store in advance, since little of the lease may be left later. A failure is retried at the next poll. */
function opened(): Store | null {
  try {
    const store = openStore(url);
    parentPort?.postMessage('ready');
    return store;
  } catch {
    return null;
  }
}

/** A failure is retried at the next poll; the main thread reports the outage. */
async function beat(store: Store): Promise<boolean> {
  try {
    await store.beat({ id, leaseMs, about, holds: [] });
    return true;
  } catch {
    return false;
  }
}

void watch();
