/** One call on one host, from the engine's side: commands, reports and the end, whichever comes first. */
import { systemRandom } from '../../random.ts';
import { parseJson } from '../../model/json.ts';
import type { Progress } from '../../model/progress.ts';
import type { Clock } from '../../time/clock.ts';
import { formatDuration } from '../../time/duration.ts';
import { HandedOff } from '../handler/context.ts';
import type { LogLevel } from '../handler/job-log.ts';
import { crashOf, HandlerCrashed, MissingOutput, type HostEnd } from '../handler/crash.ts';
import type { Host } from './host/host.ts';
import type { IsolatedCall, CallOutcome, ChildReport } from './messages.ts';
import { errorFromData, errorToData } from './error-transfer.ts';
import { settlesWithin } from './settles-within.ts';

export interface IsolatedHooks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (level: LogLevel, text: string) => void;
}

export interface CallSettings {
  readonly clock: Clock;
  readonly startTimeoutMs: number;
  readonly idleMs: number;
}

export interface HostedResult {
  readonly value: unknown;
  /** Whether the host can take another call. */
  readonly isClean: boolean;
}

/** For the last that a child has to do: a handler may have closed the console, or hang in a listener of the exit. */
const lastMs = 1000;

export class HostedCall {
  readonly #host: Host;
  readonly #hooks: IsolatedHooks;
  readonly #settings: CallSettings;
  readonly #outcome = Promise.withResolvers<CallOutcome>();
  readonly #gone = Promise.withResolvers<void>();
  #stopStartTimer = (): void => {};
  #isStarted = false;
  #uncaught: Error | null = null;

  constructor(host: Host, hooks: IsolatedHooks, settings: CallSettings) {
    this.#host = host;
    this.#hooks = hooks;
    this.#settings = settings;
  }

  /** Whether the handler was called. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Rejects with what the handler threw, or with `HandlerCrashed`. */
  async answer(call: IsolatedCall): Promise<HostedResult> {
    const { signal } = this.#hooks;
    const passOn = (): void => this.#host.send({ kind: 'abort', reason: errorToData(signal.reason) });
    try {
      this.#start(call);
      if (signal.aborted) passOn();
      else signal.addEventListener('abort', passOn, { once: true });
      return await this.#answerOf(await this.#outcome.promise);
    } finally {
      this.#stopStartTimer();
      signal.removeEventListener('abort', passOn);
      this.#host.listen(null);
    }
  }

  #start(call: IsolatedCall): void {
    const { clock, startTimeoutMs } = this.#settings;
    this.#outcome.promise.catch(() => {});
    this.#host.listen({ hear: (report) => this.#hear(report), gone: (end) => this.#end(end) });
    this.#send(call);
    this.#stopStartTimer = clock.after(startTimeoutMs, () => {
      const message = `could not start: no answer within ${formatDuration(startTimeoutMs)}`;
      this.#outcome.reject(new HandlerCrashed('could not start', message));
    });
  }

  #send(call: IsolatedCall): void {
    const mark = `\u0001stint ${systemRandom.hex(8)}`;
    try {
      this.#host.send({ kind: 'call', call, mark, idleMs: this.#settings.idleMs });
    } catch (error) {
      const message = `could not start: the data of ${call.type} cannot be cloned into a ${this.#host.mode} of its own`;
      throw new HandlerCrashed('could not start', message, { error });
    }
  }

  #hear(report: ChildReport): void {
    try {
      this.#take(report);
    } catch (error) {
      this.#outcome.reject(error);
    }
  }

  #take(report: ChildReport): void {
    switch (report.kind) {
      case 'started':
        this.#isStarted = true;
        return this.#stopStartTimer();
      case 'progress':
        return this.#hooks.onProgress(report.progress);
      case 'log':
        return this.#hooks.onLog(report.level, report.text);
      case 'crashed':
        return this.#expectEnd(errorFromData(report.error));
      default:
        return this.#outcome.resolve(report);
    }
  }

  /** The child is about to end itself, unless the handler's code keeps it from that. */
  #expectEnd(uncaught: Error): void {
    this.#uncaught = uncaught;
    void settlesWithin(this.#settings.clock, lastMs, this.#gone.promise).then((isGone) => (isGone ? null : this.#host.kill()));
  }

  #end(end: HostEnd): void {
    const { mode, isKilled } = this.#host;
    this.#outcome.reject(crashOf(end, { mode, isKilled, isStarted: this.#isStarted, uncaught: this.#uncaught }));
    this.#gone.resolve();
  }

  async #answerOf(outcome: CallOutcome): Promise<HostedResult> {
    const heard = Promise.race([this.#host.heard(), this.#gone.promise]);
    const isClean = await settlesWithin(this.#settings.clock, lastMs, heard);
    return { value: valueOf(outcome), isClean };
  }
}

function valueOf(outcome: CallOutcome): unknown {
  switch (outcome.kind) {
    case 'returned':
      return parseJson(outcome.text);
    case 'handedOff':
      return new HandedOff(outcome.token, outcome.withinMs);
    case 'unfit':
      throw new MissingOutput(outcome.message);
    case 'threw':
      throw errorFromData(outcome.error);
    case 'unstartable': {
      const error = errorFromData(outcome.error);
      throw new HandlerCrashed('could not start', `could not start: ${error.name}: ${error.message}`, { error });
    }
  }
}
