/** One handler call in a child: imports the module, calls the handler, reports progress and returns the outcome. */
import { checkLimitUses } from '../../../jobs/checks/limit-uses.ts';
import { jsonText } from '../../../model/json.ts';
import type { Progress } from '../../../model/progress.ts';
import { Refusal } from '../../../refusal.ts';
import { systemClock, type Clock } from '../../../time/clock.ts';
import { durationMs } from '../../../time/duration.ts';
import { addedTooLate, checkedChild } from '../../declare/added-child.ts';
import type { ChildRequest } from '../../declare/child-request.ts';
import type { AnyJobType, ChildRuns } from '../../declare/job-type.ts';
import { HandedOff, limitNameOf, type Context } from '../../handler/context.ts';
import { jobLog } from '../../handler/job-log.ts';
import { refusedOutput } from '../../handler/output.ts';
import { refusedSteps } from '../../handler/step.ts';
import { Tracker } from '../../progress/tracker.ts';
import { findType } from './find-type.ts';
import type { IsolatedCall, CallOutcome, ChildReport } from '../messages.ts';
import { errorToData } from '../error-transfer.ts';

type IsolatedHandler = (context: Context & { readonly children: ChildRuns } & IsolatedCall['data']) => unknown;

export class HandlerCall {
  readonly #call: IsolatedCall;
  readonly #report: (report: ChildReport) => void;
  readonly #abort = new AbortController();
  readonly #throttle: ProgressThrottle;
  readonly #tracker: Tracker;
  #isOver = false;

  constructor(call: IsolatedCall, report: (report: ChildReport) => void) {
    this.#call = call;
    this.#report = report;
    this.#throttle = new ProgressThrottle(systemClock, (progress) => report({ kind: 'progress', progress }));
    this.#tracker = new Tracker({ clock: systemClock, onChange: (progress) => this.#throttle.update(progress) });
  }

  abort(reason: Error): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(reason);
    this.#tracker.cancel(reason.message === '' ? undefined : reason);
  }

  /** Executes the call and returns its outcome. Never rejects. */
  async outcome(): Promise<CallOutcome> {
    const found = await this.#find();
    if ('kind' in found) return found;
    this.#report({ kind: 'started' });
    const outcome = await this.#perform(found.handler);
    this.#throttle.flush();
    this.#isOver = true;
    return outcome;
  }

  async #find(): Promise<{ readonly handler: IsolatedHandler } | CallOutcome> {
    const { module, type, phase } = this.#call;
    try {
      const { options } = await findType(module, type);
      const handler = options[phase] as IsolatedHandler | undefined;
      if (handler) return { handler };
      throw new Refusal('unknown.type', `job type ${type} of ${module} has no ${phase}`, { type, module });
    } catch (error) {
      return { kind: error instanceof Refusal ? 'threw' : 'notStarted', error: errorToData(error) };
    }
  }

  async #perform(handler: IsolatedHandler): Promise<CallOutcome> {
    try {
      const value = await handler({ ...this.#context(), children: this.#children(), ...this.#call.data });
      this.#tracker.endReturned();
      return outcomeOf(value);
    } catch (error) {
      return { kind: 'threw', error: errorToData(this.#tracker.endThrown(error)) };
    }
  }

  #context(): Context {
    const { run, idempotencyKey, fence, token, limitNames } = this.#call.facts;
    return {
      run,
      idempotencyKey,
      fence,
      signal: this.#abort.signal,
      progress: this.#tracker,
      log: jobLog((level, text) => {
        if (!this.#isOver) this.#report({ kind: 'log', level, text });
      }),
      output: refusedOutput(isolatedOutput),
      limits: { spend: async (limit, cost) => this.#spend(limitNameOf(limit), cost, limitNames) },
      handOff: ({ within } = {}) => new HandedOff(token, within === undefined ? null : durationMs(within)),
      complete: () => Promise.reject(new Refusal('malformed.store', isolatedCompletion)),
      ...refusedSteps(isolatedSteps),
    };
  }

  #children(): ChildRuns {
    const add = (type: AnyJobType, request: ChildRequest<unknown> = {}): void => {
      if (this.#call.phase !== 'run') throw new Refusal('malformed.option', 'a task cannot add children: add them in run');
      if (this.#isOver) throw addedTooLate(this.#call.facts.run.id, 'its handler has returned');
      const child = checkedChild(type, request);
      this.#report({ kind: 'child', type: child.type.name, request: jsonText(child.request) });
    };
    return { add };
  }

  #spend(limit: string, cost: number, limitNames: readonly string[]): void {
    if (!limitNames.includes(limit)) {
      const message = `the job does not use the limit ${limit}: list it in the limits of its job type`;
      throw new Refusal('limit.unknown', message, { limit });
    }
    checkLimitUses([{ name: limit, key: null, cost }]);
    if (!this.#isOver) this.#report({ kind: 'spend', limit, cost });
  }
}

function outcomeOf(value: unknown): CallOutcome {
  if (value instanceof HandedOff) return { kind: 'handedOff', token: value.token, withinMs: value.withinMs };
  try {
    return { kind: 'returned', text: jsonText(value) };
  } catch (error) {
    return { kind: 'notJson', message: errorToData(error).message };
  }
}

const isolatedCompletion = 'an isolated handler has no connection to the store: return the result, without complete()';

const isolatedSteps = 'an isolated handler has no connection to the store: use step() and sleep() in a type without isolate';

const isolatedOutput = 'an isolated handler has no connection to the store: use output in a type without isolate';

const progressEveryMs = 100;

/** Sends the latest progress at most every 100 ms. `flush` sends progress that has not been sent yet. */
export class ProgressThrottle {
  readonly #clock: Clock;
  readonly #send: (progress: Progress) => void;
  #sentAt = -Infinity;
  #unsent: Progress | null = null;
  #stopTimer: (() => void) | null = null;

  constructor(clock: Clock, send: (progress: Progress) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /**
   * Sends progress at once if 100 ms have passed since the last send; otherwise a timer sends it later. A timer alone
   * would not be enough: it does not fire while the handler blocks the event loop.
   */
  update(progress: Progress): void {
    this.#unsent = progress;
    const leftMs = this.#sentAt + progressEveryMs - this.#clock.monotonic();
    if (leftMs <= 0) this.flush();
    else this.#stopTimer ??= this.#clock.after(leftMs, () => this.flush());
  }

  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    if (this.#unsent === null) return;
    const progress = this.#unsent;
    this.#unsent = null;
    this.#sentAt = this.#clock.monotonic();
    this.#send(progress);
  }
}
