/**
 * The backup heartbeat: while the event loop of the instance is blocked, another thread renews the lease, enforces the
 * time limits of attempts, and gives up the jobs of the instance if the loop stays blocked.
 */
import type { InstanceAbout } from '../../store/store.ts';
import { noTimeLimits, type TimeLimits } from '../work/time-limits.ts';

export interface BackupHeartbeat {
  readonly timeLimits: TimeLimits;
  /** Calls `onReady` once it can beat; until then a blocked event loop would cost the lease. */
  start(about: InstanceAbout, onReady: () => void): void;
  /** The instance has just sent a heartbeat itself. */
  noteBeat(): void;
  /** Rises when the thread begins to give up the jobs of this instance, and when it has; odd in between. */
  givenUp(): number;
  stop(): Promise<void>;
}

/** For stores that no other thread can open, such as those in the memory of this process. */
export const noBackupHeartbeat: BackupHeartbeat = {
  timeLimits: noTimeLimits,
  start: (_, onReady) => onReady(),
  noteBeat: () => {},
  givenUp: () => 0,
  stop: () => Promise.resolve(),
};
