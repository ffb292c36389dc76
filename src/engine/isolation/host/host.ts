/** The host: a thread or process in which handlers are called, as the engine sees it from outside. */
import type { Clock } from '../../../time/clock.ts';
import type { HostEnd, IsolationMode } from '../../handler/crash.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';

export interface Host {
  readonly mode: IsolationMode;
  /** Whether it was ended on purpose. */
  readonly isKilled: boolean;
  /** Resolves when it is really gone, and all that it said has been heard. Never rejects. */
  readonly gone: Promise<HostEnd>;
  /** Who hears of it from now on, and of its end even if that came before; null: nobody. */
  listen(listener: Listener | null): void;
  /** Throws when the order holds something that cannot be cloned. */
  send(order: ChildCommand): void;
  /** Resolves when all that was printed before the mark of the last call has been heard. */
  heard(): Promise<void>;
  /** Ends it, whatever its code does; whoever waits for that keeps the process alive. */
  kill(): Promise<HostEnd>;
  /** Whether the engine's process must stay for it. */
  hold(isHeld: boolean): void;
}

/** For one call: a promise that outlives it would gather whatever waits on it. */
export interface Listener {
  hear(report: ChildReport): void;
  gone(end: HostEnd): void;
}

export interface HostOptions {
  readonly clock: Clock;
  /** Of the heap of JavaScript, in MB. */
  readonly memoryMb: number | null;
}

// The same line finds the source in development and the compiled file in dist.
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
export const childEntry = new URL(`../child/main${extension}`, import.meta.url);
