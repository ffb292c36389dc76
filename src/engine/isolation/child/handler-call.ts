/** One handler call inside a child: from the module to the outcome. */
import { jsonText } from '../../../model/json.ts';
import { Refusal } from '../../../refusal.ts';
import { systemClock } from '../../../time/clock.ts';
import { durationMs } from '../../../time/duration.ts';
import { HandedOff, type Context } from '../../handler/context.ts';
import { jobLog } from '../../handler/job-log.ts';
import { Cancelled } from '../../handler/errors.ts';
import { tokenOf } from '../../handler/token.ts';
import { Tracker } from '../../progress/tracker.ts';
import { findType } from './find-type.ts';
import type { IsolatedCall, CallOutcome, ChildReport } from '../messages.ts';
import { ProgressFlow } from './progress-flow.ts';
import { errorToData } from '../error-transfer.ts';

type IsolatedHandler = (context: Context & IsolatedCall['data']) => unknown;

export class HandlerCall {
  readonly #call: IsolatedCall;
  readonly #report: (report: ChildReport) => void;
  readonly #abort = new AbortController();
  readonly #flow: ProgressFlow;
  readonly #tracker: Tracker;
  #isOver = false;

  constructor(call: IsolatedCall, report: (report: ChildReport) => void) {
    this.#call = call;
    this.#report = report;
    this.#flow = new ProgressFlow(systemClock, (progress) => report({ kind: 'progress', progress }));
    this.#tracker = new Tracker({ clock: systemClock, onChange: (progress) => this.#flow.update(progress) });
  }

  abort(reason: Error): void {
    if (this.#abort.signal.aborted) return;
    this.#abort.abort(reason);
    if (reason instanceof Cancelled) this.#tracker.cancel(reason.message === '' ? undefined : reason);
  }

  /** Never rejects. */
  async outcome(): Promise<CallOutcome> {
    const found = await this.#find();
    if ('kind' in found) return found;
    this.#report({ kind: 'started' });
    const outcome = await this.#perform(found.handler);
    this.#flow.flush();
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
      return { kind: error instanceof Refusal ? 'threw' : 'unstartable', error: errorToData(error) };
    }
  }

  async #perform(handler: IsolatedHandler): Promise<CallOutcome> {
    try {
      const value = await handler({ ...this.#context(), ...this.#call.data });
      this.#tracker.end();
      return outcomeOf(value);
    } catch (error) {
      this.#tracker.end(error ?? 'the handler threw nothing');
      return { kind: 'threw', error: errorToData(error) };
    }
  }

  #context(): Context {
    const { run, idempotencyKey, fence, token = tokenOf({ id: run.id, fence }) } = this.#call.facts;
    return {
      run,
      idempotencyKey,
      fence,
      signal: this.#abort.signal,
      progress: this.#tracker,
      log: jobLog((level, text) => {
        if (!this.#isOver) this.#report({ kind: 'log', level, text });
      }),
      handOff: ({ within } = {}) => new HandedOff(token, within === undefined ? null : durationMs(within)),
    };
  }
}

function outcomeOf(value: unknown): CallOutcome {
  if (value instanceof HandedOff) return { kind: 'handedOff', token: value.token, withinMs: value.withinMs };
  try {
    return { kind: 'returned', text: jsonText(value) };
  } catch (error) {
    return { kind: 'unfit', message: errorToData(error).message };
  }
}
