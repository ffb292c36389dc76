/** The heart: beats for an instance whose event loop is blocked, so that a busy handler does not cost it its lease. */
import type { InstanceAbout } from '../../store/store.ts';

export interface Heart {
  /** Calls once it can beat: until then a blocked event loop would cost the lease. */
  start(about: InstanceAbout, onReady: () => void): void;
  /** The instance has just beaten itself. */
  beaten(): void;
  stop(): Promise<void>;
}

/** For stores that live in this process: nobody else could take its jobs. */
export const noHeart: Heart = { start: (_, onReady) => onReady(), beaten: () => {}, stop: () => Promise.resolve() };
