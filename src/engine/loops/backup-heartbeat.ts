/**
 * The backup heartbeat: while the event loop of the instance is blocked, another thread renews the lease, enforces the
 * time limits of attempts, and gives up the jobs of the instance if the loop stays blocked.
 */
import type { InstanceAbout } from '../../store/store.ts';
import { noTimeLimits, type TimeLimits } from '../attempt/time-limits.ts';

export interface BackupHeartbeat {
  readonly timeLimits: TimeLimits;
  /** Starts the thread. Calls `onReady` when the thread can send heartbeats, or when it certainly never will. */
  start(about: InstanceAbout, onReady: () => void): void;
  /** Call after each heartbeat of the main thread, so that the heartbeat thread need not send one. */
  noteBeat(): void;
  /** A counter that is incremented before and after the thread gives up jobs; odd: the thread is giving up jobs now. */
  givenUp(): number;
  stop(): Promise<void>;
}

/** No backup: for stores that no other thread can open, such as a store in the memory of this process. */
export const noBackupHeartbeat: BackupHeartbeat = {
  timeLimits: noTimeLimits,
  start: (_, onReady) => onReady(),
  noteBeat: () => {},
  givenUp: () => 0,
  stop: () => Promise.resolve(),
};
