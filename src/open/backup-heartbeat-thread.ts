/** The heartbeat thread: watches the main thread's beats and beats in its stead while it is silent. */
import { parentPort, workerData } from 'node:worker_threads';
import type { HeartbeatThreadData } from './backup-heartbeat.ts';
import { openStore } from './store.ts';
import type { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';

const { url, instance: id, leaseMs, stallMs, about, beats } = workerData as HeartbeatThreadData;

/** Often enough that the silence is noticed while most of the lease is left. */
const silencePollMs = leaseMs / 12;
/** The main thread beats this often when it has nothing to do. */
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

/** Before it is needed: there may be little time then. What cannot be opened is tried again at the next look. */
function opened(): Store | null {
  try {
    const store = openStore(url);
    parentPort?.postMessage('ready');
    return store;
  } catch {
    return null;
  }
}

/** A store that cannot be reached is tried again at the next look; the main thread tells of the outage. */
async function beat(store: Store): Promise<boolean> {
  try {
    await store.beat({ id, leaseMs, about, holds: [] });
    return true;
  } catch {
    return false;
  }
}

void watch();
