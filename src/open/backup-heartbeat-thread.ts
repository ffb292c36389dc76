/**
 * The entry of the heartbeat thread. The thread watches the heartbeats of the main thread, and sends heartbeats itself
 * while the main thread sends none. It also enforces the time limits of attempts while the event loop is blocked.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { TimeLimits } from '../engine/attempt/time-limits.ts';
import type { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';
import type { HeartbeatThreadData, ThreadMessage } from './backup-heartbeat.ts';
import { BlockedLoop } from './blocked-loop.ts';
import { loadOpener } from './load-opener.ts';
import type { Opener } from './opener.ts';

const { address, instance, leaseMs, blockedMaxMs, about, signals, limits } = workerData as HeartbeatThreadData;

/** Short, so that missing heartbeats are noticed while most of the lease is left. */
const pollMs = Math.min(leaseMs / 12, 1_000);
/** The longest interval between two heartbeats of a main thread that is not blocked. */
const beatMs = leaseMs / 3;
const timeLimits = new TimeLimits(limits.rows, limits.shared);

interface OpenedStore {
  readonly store: Store;
  readonly blockedLoop: BlockedLoop;
}

async function watch(): Promise<void> {
  const openStore = await loadOpener(address.url);
  let opened: OpenedStore | null = null;
  let count = Atomics.load(signals, 0);
  let changedAt = systemClock.monotonic();
  let beatAt = changedAt;
  while (Atomics.load(signals, 1) === 0) {
    opened ??= open(openStore);
    await systemClock.sleep(pollMs);
    const now = systemClock.monotonic();
    if (Atomics.load(signals, 0) !== count) [count, changedAt] = [Atomics.load(signals, 0), now];
    const silence = now - changedAt;
    if (opened === null) continue;
    await check(opened.blockedLoop, now);
    if (opened.blockedLoop.isGivenUp || silence < beatMs + pollMs || silence > blockedMaxMs) continue;
    if (now - beatAt >= beatMs / 2 && (await beat(opened.store))) beatAt = now;
  }
}

/**
 * Opens the store. This is done at the start of the thread, because little of the lease may be left when the thread
 * must send its first heartbeat. Returns null if the store cannot be opened; the next poll tries again.
 */
function open(openStore: Opener): OpenedStore | null {
  try {
    const store = openStore(address, { create: true });
    const note = (): void => void Atomics.add(signals, 2, 1);
    const blockedLoop = new BlockedLoop({ store, instance, leaseMs, onGivingUp: note, onGivenUp: note });
    post({ kind: 'ready' });
    return { store, blockedLoop };
  } catch {
    return null;
  }
}

/** Sends a heartbeat; returns false if it fails. The next poll tries again, and the main thread reports the outage. */
async function beat(store: Store): Promise<boolean> {
  try {
    await store.beat({ id: instance, leaseMs, about, holds: [] });
    return true;
  } catch {
    return false;
  }
}

async function check(blockedLoop: BlockedLoop, now: number): Promise<void> {
  try {
    const report = await blockedLoop.check(timeLimits.running(), now);
    if (report !== null) post({ kind: 'blocked', report });
  } catch {
    // The store does not answer. The next poll fails the overdue attempts and gives up the jobs that are left.
  }
}

const post = (message: ThreadMessage): void => parentPort?.postMessage(message);

void watch();
