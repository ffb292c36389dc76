/** One call of a handler in a thread or process (host): sends the call, receives reports, and returns the result. */
import { systemRandom } from '../../random.ts';
import { parseJson, type Json } from '../../model/json.ts';
import type { Progress } from '../../model/progress.ts';
import type { Clock } from '../../time/clock.ts';
import { formatDuration } from '../../time/duration.ts';
import { settlesWithin } from '../../time/settles-within.ts';
import { HandedOff } from '../handler/context.ts';
import type { LogLevel } from '../handler/job-log.ts';
import { crashOf, HandlerCrashed, MissingOutput, type HostEnd } from '../handler/crash.ts';
import type { Host } from './host/host.ts';
import type { IsolatedCall, CallOutcome, ChildReport } from './messages.ts';
import { errorFromData, errorToData } from './error-transfer.ts';

export interface IsolatedHooks {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly onLog: (level: LogLevel, text: string) => void;
  readonly onSpend: (limit: string, cost: number) => void;
  /** Called for each child that the handler adds. If it throws, the call fails with its error. */
  readonly onChild: (type: string, request: Json) => void;
}

export interface CallSettings {
  readonly clock: Clock;
  readonly startTimeoutMs: number;
  readonly idleMs: number;
}

export interface HostedResult {
  readonly value: unknown;
  /** True: the host can execute another call. False: the host must be killed. */
  readonly isClean: boolean;
}

/**
 * How long a child may take to deliver the last output of a call, or to exit after an uncaught error, before it is
 * killed. A handler can prevent both: it can close stdout, or block the exit.
 */
const lastStepMs = 1000;

export class HostedCall {
  readonly #host: Host;
  readonly #hooks: IsolatedHooks;
  readonly #settings: CallSettings;
  readonly #outcome = Promise.withResolvers<CallOutcome>();
  readonly #ended = Promise.withResolvers<void>();
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

  /** Executes the call. Rejects with the error of the handler, with `HandlerCrashed` or with `MissingOutput`. */
  async answer(call: IsolatedCall): Promise<HostedResult> {
    const { signal } = this.#hooks;
    const forwardAbort = (): void => this.#host.send({ kind: 'abort', reason: errorToData(signal.reason) });
    try {
      this.#start(call);
      if (signal.aborted) forwardAbort();
      else signal.addEventListener('abort', forwardAbort, { once: true });
      return await this.#answerOf(await this.#outcome.promise);
    } finally {
      this.#stopStartTimer();
      signal.removeEventListener('abort', forwardAbort);
      this.#host.listen(null);
    }
  }

  #start(call: IsolatedCall): void {
    const { clock, startTimeoutMs } = this.#settings;
    this.#outcome.promise.catch(() => {});
    this.#host.listen({ onReport: (report) => this.#receive(report), onEnd: (end) => this.#end(end) });
    this.#send(call);
    this.#stopStartTimer = clock.after(startTimeoutMs, () => {
      const { mode } = this.#host;
      const message = `could not start: the ${mode} did not respond within ${formatDuration(startTimeoutMs)}`;
      this.#outcome.reject(new HandlerCrashed('could not start', message));
    });
  }

  #send(call: IsolatedCall): void {
    const mark = `\u0001stint ${systemRandom.hex(8)}`;
    try {
      this.#host.send({ kind: 'call', call, mark, idleMs: this.#settings.idleMs });
    } catch (error) {
      const message = `could not start: the data of job type ${call.type} cannot be cloned into a ${this.#host.mode}`;
      throw new HandlerCrashed('could not start', message, { error });
    }
  }

  #receive(report: ChildReport): void {
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
      case 'spend':
        return this.#hooks.onSpend(report.limit, report.cost);
      case 'child':
        return this.#hooks.onChild(report.type, parseJson(report.request));
      case 'crashed':
        return this.#expectEnd(errorFromData(report.error));
      default:
        return this.#outcome.resolve(report);
    }
  }

  /** Waits until the child exits after an uncaught error. Kills it if code of the handler blocks the exit. */
  #expectEnd(uncaught: Error): void {
    this.#uncaught = uncaught;
    const isEnded = settlesWithin(this.#settings.clock, lastStepMs, this.#ended.promise);
    void isEnded.then((is) => (is ? null : this.#host.kill()));
  }

  #end(end: HostEnd): void {
    const { mode, isKilled } = this.#host;
    this.#outcome.reject(crashOf(end, { mode, isKilled, isStarted: this.#isStarted, uncaught: this.#uncaught }));
    this.#ended.resolve();
  }

  async #answerOf(outcome: CallOutcome): Promise<HostedResult> {
    const delivered = Promise.race([this.#host.outputDelivered(), this.#ended.promise]);
    const isClean = await settlesWithin(this.#settings.clock, lastStepMs, delivered);
    return { value: valueOf(outcome), isClean };
  }
}

function valueOf(outcome: CallOutcome): unknown {
  switch (outcome.kind) {
    case 'returned':
      return parseJson(outcome.text);
    case 'handedOff':
      return new HandedOff(outcome.token, outcome.withinMs);
    case 'notJson':
      throw new MissingOutput(outcome.message);
    case 'threw':
      throw errorFromData(outcome.error);
    case 'notStarted': {
      const error = errorFromData(outcome.error);
      throw new HandlerCrashed('could not start', `could not start: ${error.name}: ${error.message}`, { error });
    }
  }
}
