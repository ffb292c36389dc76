/** The backup heartbeat: renews the lease from another thread while the event loop of the instance is blocked. */
import type { InstanceAbout } from '../../store/store.ts';

export interface BackupHeartbeat {
  /** Calls `onReady` once it can beat; until then a blocked event loop would cost the lease. */
  start(about: InstanceAbout, onReady: () => void): void;
  /** The instance has just sent a heartbeat itself. */
  noteBeat(): void;
  stop(): Promise<void>;
}

/** For stores within this process: no other instance can claim their jobs. */
export const noBackupHeartbeat: BackupHeartbeat = { start: (_, onReady) =>
  onReady(), noteBeat: () => {}, stop: () => Promise.resolve() };
