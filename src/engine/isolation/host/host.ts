/** The host: a thread or process that executes handlers, seen from the engine. */
import type { Clock } from '../../../time/clock.ts';
import type { HostEnd, IsolationMode } from '../../handler/crash.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';

/** Receives the reports of one call. A callback rather than a promise, since the host outlives the call. */
export interface HostListener {
  onReport(report: ChildReport): void;
  onEnd(end: HostEnd): void;
}

export interface HostOptions {
  readonly clock: Clock;
  /** The limit of the JavaScript heap, in MB; null: the default of Node. */
  readonly memoryMb: number | null;
}

export abstract class Host {
  abstract readonly mode: IsolationMode;
  readonly #ended = Promise.withResolvers<HostEnd>();
  #end: HostEnd | null = null;
  #listener: HostListener | null = null;
  #isKilled = false;

  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Resolves after the thread or process has exited and all of its reports have been delivered. Never rejects. */
  get ended(): Promise<HostEnd> {
    return this.#ended.promise;
  }

  /** Replaces the listener. A listener that is set after the host has ended is called with its end at once. */
  listen(listener: HostListener | null): void {
    this.#listener = listener;
    if (this.#end) listener?.onEnd(this.#end);
  }

  /** Ends the host whatever its code does, and keeps the engine's process alive until it has ended. */
  kill(): Promise<HostEnd> {
    this.#isKilled = true;
    this.setRef(true);
    this.terminate();
    return this.ended;
  }

  /** Throws when the command contains a value that cannot be cloned. */
  abstract send(command: ChildCommand): void;

  /** Resolves when the output that was printed before the mark of the last call has been delivered. */
  abstract outputDelivered(): Promise<void>;

  /** Whether the host keeps the engine's process alive, as `ref` and `unref` of Node do. */
  abstract setRef(isReferenced: boolean): void;

  protected abstract terminate(): void;

  protected deliver(report: ChildReport): void {
    this.#listener?.onReport(report);
  }

  protected deliverEnd(end: HostEnd): void {
    this.#end = end;
    this.#listener?.onEnd(end);
    this.#ended.resolve(end);
  }
}

// Node executes main.ts in development and main.js in the package.
const extension = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
export const childEntry = new URL(`../child/main${extension}`, import.meta.url);
