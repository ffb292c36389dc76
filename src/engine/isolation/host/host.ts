/** The host: a thread or process that executes handlers, seen from the engine. */
import { packagedModule } from '../../../packaged-file.ts';
import type { Clock } from '../../../time/clock.ts';
import type { HostEnd, IsolationMode } from '../../handler/crash.ts';
import type { ChildCommand, ChildReport } from '../messages.ts';

export interface HostListener {
  onReport(report: ChildReport): void;
  onEnd(end: HostEnd): void;
}

export interface HostOptions {
  readonly clock: Clock;
  /** The file that the thread or process executes. */
  readonly entry: URL;
  /** The limit of the JavaScript heap, in MB; null: Node's default. */
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

  /**
   * Resolves after the thread or process has exited and its reports have been delivered; the pipes of a process are
   * read for a limited time. Never rejects.
   */
  get ended(): Promise<HostEnd> {
    return this.#ended.promise;
  }

  /** Replaces the listener; null removes it. If the host has already ended, calls `onEnd` immediately. */
  listen(listener: HostListener | null): void {
    this.#listener = listener;
    if (this.#end) listener?.onEnd(this.#end);
  }

  /** Kills the host. Keeps the engine's process alive until the host has ended. */
  kill(): Promise<HostEnd> {
    this.#isKilled = true;
    this.setRef(true);
    this.terminate();
    return this.ended;
  }

  /** Sends a command. Throws if the command contains a value that cannot be cloned. */
  abstract send(command: ChildCommand): void;

  /** Resolves when all console output of the last call has been delivered. */
  abstract outputDelivered(): Promise<void>;

  /** Sets whether the host keeps the engine's process alive, as Node's `ref` and `unref` do. */
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

export const packagedEntry = packagedModule('../child/main', import.meta.url);
