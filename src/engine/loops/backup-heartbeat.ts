/** The backup heartbeat: beats for an instance whose event loop is blocked, so that it keeps its lease. */
import type { InstanceAbout } from '../../store/store.ts';

export interface BackupHeartbeat {
  /** Calls once it can beat: until then a blocked event loop would cost the lease. */
  start(about: InstanceAbout, onReady: () => void): void;
  /** The instance has just beaten itself. */
  noteBeat(): void;
  stop(): Promise<void>;
}

/** For stores that live in this process: nobody else could take its jobs. */
export const noBackupHeartbeat: BackupHeartbeat = { start: (_, onReady) =>
  onReady(), noteBeat: () => {}, stop: () => Promise.resolve() };
