/**
 * The steps of an attempt: calls the work of a step unless its result is stored, stores its result under the fence of
 * the attempt, and ends an attempt that sleeps. The stored steps of a job are read once per attempt.
 */
import { checkName } from '../../jobs/checks/values.ts';
import { parsePayload } from '../../model/encoded-payload.ts';
import { jsonText } from '../../model/json.ts';
import { backoffMs, retryOf, type RetryPolicy } from '../../model/retry.ts';
import {
  beforeSteps, gatherPrefix, isEarlyAnswer, isEndedStep, stepKey, stepsMax, type EndedStep, type StoredStep,
} from '../../model/step.ts';
import { answered, sleepOver, sleepsUntil, storedEarlier, waitsForAnswer } from '../../model/step-progress.ts';
import type { Logger } from '../../logger.ts';
import { isMalformed, isRefusal, isTemporary, Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { turn, type Clock } from '../../time/clock.ts';
import { durationMs, type Duration } from '../../time/duration.ts';
import { checkFields } from '../../jobs/checks/values.ts';
import { retryPolicyOf } from '../declare/policy.ts';
import { Fail, RateLimited, RetryAfter, Sleeping, Snooze, throwIfSleeping } from '../handler/errors.ts';
import type { StepFunctions, StepOptions, StepWork, WaitOptions } from '../handler/step.ts';
import type { Notes } from '../progress/notes.ts';
import type { Tracker } from '../progress/tracker.ts';
import type { Attempt } from './attempt.ts';
import { refuseInComplete, refuseNested, stepScope } from './call-scope.ts';
import type { Execution } from './execution.ts';
import { isA } from './stored-error.ts';
import { mayHaveSteps, type StepReads } from './step-reads.ts';
import { checkedWait, lostStep, requireKind, Waits, type StepEnd } from './waits.ts';

export interface StepsParts {
  readonly store: Store;
  readonly reads: StepReads;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The name of this instance. */
  readonly by: string;
  /** Stands before the idempotency keys of the steps. */
  readonly keyPrefix: string;
  /** Stores what a step has written to the output. */
  readonly notes: Pick<Notes, 'flushOutput'>;
}

/**
 * Returns the functions `step`, `sleep` and `waitFor` for the context of an attempt. `prefix` stands before the names of
 * the steps, so that two phases of a run can use the same names. `parts` are the same for all attempts.
 */
export function stepFunctions(parts: StepsParts, { attempt, tracker }: Execution, prefix: string): StepFunctions {
  const lazy = new LazySteps(parts, attempt, tracker, prefix);
  return {
    step: async <Result>(name: string, ...rest: [StepWork<Result>] | [StepOptions, StepWork<Result>]) => {
      const [options, work] = rest.length === 1 ? [{}, rest[0]] : rest;
      return lazy.steps.step(lazy.named(name), options, work);
    },
    sleep: async (name, duration) => lazy.steps.sleep(lazy.named(name), duration),
    waitFor: async (name: string, options?: WaitOptions) => lazy.steps.waitFor(lazy.named(name), options) as never,
  };
}

/** The steps of an attempt, made when the handler uses the first one: most handlers have none. */
class LazySteps {
  readonly #parts: StepsParts;
  readonly #attempt: Attempt;
  readonly #tracker: Tracker;
  readonly #prefix: string;
  #steps: AttemptSteps | null = null;

  constructor(parts: StepsParts, attempt: Attempt, tracker: Tracker, prefix: string) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#tracker = tracker;
    this.#prefix = prefix;
  }

  get steps(): AttemptSteps {
    return (this.#steps ??= new AttemptSteps(this.#parts, this.#attempt, this.#tracker));
  }

  /** A name that is not a text is refused later. */
  named(name: string): string {
    return typeof name === 'string' ? this.#prefix + unreserved(name) : name;
  }
}

function unreserved(name: string): string {
  if (!name.startsWith(gatherPrefix)) return name;
  const message = `the step ${JSON.stringify(name)} needs another name: Stint names the steps of jobResults ${gatherPrefix}…`;
  throw new Refusal('malformed.name', message, { step: name });
}

/** How long a step waits before it tries again to reach the store. */
const storeRetryMs = 200;
/** While the store cannot be reached, every so many tries are logged: one each minute. */
const triesPerWarning = 300;
const once: RetryPolicy = retryOf({ attemptsMax: 1 });

class AttemptSteps {
  readonly #parts: StepsParts;
  readonly #attempt: Attempt;
  readonly #tracker: Tracker;
  readonly #used = new Set<string>();
  /** When the sleeps and waits end that this attempt waits for. */
  readonly #sleeps = new Map<string, number>();
  readonly #openWaits = new Set<string>();
  readonly #waits: Waits;
  readonly #abort = new AbortController();
  #signalOrNull: AbortSignal | null = null;
  #stored: Promise<Map<string, StoredStep>> | null = null;
  #lastNumber = 0;
  #loadedTo = beforeSteps;
  /** How many steps are being executed or stored. */
  #running = 0;
  #onIdle: (() => void)[] = [];
  /** How many steps have begun that no earlier attempt has stored. */
  #newCount = 0;
  #hasFailed = false;
  /** Whether the handler has returned or thrown. */
  #isOver = false;

  constructor(parts: StepsParts, attempt: Attempt, tracker: Tracker) {
    this.#parts = parts;
    this.#attempt = attempt;
    this.#tracker = tracker;
    this.#waits = new Waits({
      store: parts.store, by: parts.by, attempt,
      untilAnswered: (ask) => this.#untilAnswered(ask),
      write: (step) => this.#write(step),
    });
    attempt.useSteps({ end: (failure) => this.#end(failure), whenIdle: () => this.#whenIdle() });
  }

  step<Result>(name: string, options: StepOptions, work: StepWork<Result>): Promise<Result> {
    const retry = retryOfStep(options, work);
    refuseNested(this.#attempt, 'step', name);
    refuseInComplete(this.#attempt, 'step', name);
    return this.#counted(async () => {
      const known = await this.#begin(name);
      if (isEnded(known)) {
        requireKind(known, 'step');
        this.#tracker.startStep(name).complete(storedEarlier);
        return parsePayload(known.result!, `the result of step ${name}`) as Result;
      }
      const startedAt = this.#now();
      const result = await this.#tracked(name, () => this.#call(name, known?.generation ?? 1, retry, work));
      await this.#parts.notes.flushOutput(this.#attempt.holding);
      await this.#store({ name, kind: 'step', startedAt, endedAt: this.#now(), result, question: null });
      return parsePayload(result, `the result of step ${name}`) as Result;
    });
  }

  async sleep(name: string, duration: Duration): Promise<void> {
    const ms = durationMs(duration);
    refuseNested(this.#attempt, 'sleep', name);
    refuseInComplete(this.#attempt, 'sleep', name);
    const until = await this.#counted(() => this.#sleepEnd(name, ms));
    const progress = this.#tracker.startStep(name);
    if (until > this.#now()) await this.#fallAsleep(name, until).catch((error: unknown) => {
      progress.complete(sleepsUntil(until));
      throw error;
    });
    progress.complete(sleepOver);
  }

  async waitFor(name: string, options: WaitOptions = {}): Promise<unknown> {
    const wait = checkedWait(options);
    refuseNested(this.#attempt, 'waitFor', name);
    refuseInComplete(this.#attempt, 'waitFor', name);
    let outcome = await this.#counted(async () => this.#waits.outcome(name, wait, await this.#begin(name)));
    const progress = this.#tracker.startStep(name);
    while ('until' in outcome) {
      const { known, until } = outcome;
      this.#openWaits.add(name);
      await this.#fallAsleep(name, until).catch((error: unknown) => {
        progress.complete(waitsForAnswer);
        throw error;
      });
      this.#openWaits.delete(name);
      outcome = await this.#counted(() => this.#waits.outcome(name, wait, known));
    }
    progress.complete(answered);
    return outcome.value;
  }

  /** Returns when the sleep ends; stores it if this is its first call. */
  async #sleepEnd(name: string, ms: number): Promise<number> {
    const known = await this.#begin(name);
    if (isEnded(known)) {
      requireKind(known, 'sleep');
      return known.endedAt;
    }
    const startedAt = this.#now();
    await this.#store({ name, kind: 'sleep', startedAt, endedAt: startedAt + ms, result: null, question: null });
    return startedAt + ms;
  }

  /**
   * Ends the attempt when no step is running any more, until the first of its sleeps is over. Returns if the running
   * steps took as long as the sleep. If the handler has returned or thrown meanwhile, the attempt does not sleep.
   */
  async #fallAsleep(name: string, until: number): Promise<void> {
    this.#sleeps.set(name, until);
    await this.#whenIdle();
    this.#attempt.signal.throwIfAborted();
    if (until <= this.#now()) return void this.#sleeps.delete(name);
    const [first, firstUntil] = [...this.#sleeps].reduce((a, b) => (b[1] < a[1] ? b : a));
    const seen = this.#openWaits.size === 0 ? {} : { seen: this.#waits.seen };
    if (!this.#isOver) this.#attempt.fallAsleep({ name: first, until: firstUntil, ...seen });
    throw new Sleeping(first, firstUntil);
  }

  /**
   * Decides whether the attempt sleeps, then aborts the steps that are running and waits for them, so that the next
   * attempt does not execute a step that is still running. The failure of a step counts more than a sleep beside it, also
   * if the handler throws another error because of it.
   */
  async #end(failure?: { readonly error: unknown }): Promise<void> {
    this.#isOver = true;
    if (failure !== undefined && !isA(Sleeping, failure.error) && this.#hasFailed) this.#attempt.stayAwake();
    if (this.#running > 0) this.#abort.abort(new Error('the handler has returned or thrown'));
    while (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Refuses a name that the attempt has used; returns the stored step of this name. */
  async #begin(name: string): Promise<StoredStep | undefined> {
    checkName('name of a step', name);
    throwIfSleeping(this.#attempt);
    this.#attempt.signal.throwIfAborted();
    if (this.#isOver) throw tooLate(this.#attempt.job.id, name);
    if (this.#used.size === this.#used.add(name).size) throw usedTwice(this.#attempt.job.id, name);
    const stored = await (this.#stored ??= this.#load());
    this.#attempt.signal.throwIfAborted();
    this.#abort.signal.throwIfAborted();
    const known = stored.get(name);
    if (known === undefined && stored.size + (this.#newCount += 1) > stepsMax) throw tooMany(this.#attempt.job.id);
    return known;
  }

  async #load(): Promise<Map<string, StoredStep>> {
    const { job } = this.#attempt;
    const { reads } = this.#parts;
    const found = new Map<string, StoredStep>();
    if (!mayHaveSteps(job)) return found;
    for (let read = () => reads.first(job); ; read = () => reads.after(job, this.#loadedTo)) {
      const { steps, isWhole } = await this.#untilAnswered(read);
      for (const step of steps) found.set(step.name, step);
      this.#loadedTo = steps.at(-1)?.n ?? this.#loadedTo;
      this.#lastNumber = Math.max(this.#lastNumber, this.#loadedTo);
      if (isWhole) return found;
    }
  }

  async #tracked<T>(name: string, work: () => Promise<T>): Promise<T> {
    const progress = this.#tracker.startStep(name);
    try {
      const result = await work();
      progress.complete();
      return result;
    } catch (error) {
      this.#hasFailed ||= !isA(Sleeping, error);
      progress.fail(error);
      throw error;
    }
  }

  /** Calls the work of a step, again after errors if its retry policy says so; returns its result as JSON text. */
  async #call(name: string, generation: number, retry: RetryPolicy, work: StepWork<unknown>): Promise<string> {
    const { job: { id } } = this.#attempt;
    const signal = this.#signal;
    const idempotencyKey = this.#parts.keyPrefix + stepKey(id, name, generation);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return jsonText(await stepScope.run({ of: this.#attempt, name }, async () => work({ idempotencyKey, attempt, signal })));
      } catch (error) {
        if (attempt >= retry.attemptsMax || signal.aborted || endsAttempt(error) || isMalformed(error)) throw error;
        await this.#parts.clock.sleep(backoffMs(retry, attempt, `${id}/${name}`), signal);
        signal.throwIfAborted();
      }
    }
  }

  /** Stores the end of a step under the fence of the attempt. */
  async #store(end: StepEnd): Promise<void> {
    if (await this.#write(end)) return;
    throw lostStep(this.#attempt, end.name);
  }

  async #write(end: StepEnd): Promise<boolean> {
    const { job: { id }, holding: { fence } } = this.#attempt;
    const step = { ...end, job: id, fence, n: end.n ?? (this.#lastNumber += 1) };
    const [isStored] = await this.#untilAnswered(() => this.#parts.store.writeSteps([step]));
    return isStored!;
  }

  /**
   * Tries until the store answers, also with a refusal that is not temporary, or the attempt has ended. A cancel does not
   * end an attempt, and does not hurry it.
   */
  async #untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        if ((isRefusal(error) && !isTemporary(error)) || this.#attempt.isEnded) throw error;
        if (tries % triesPerWarning === 1) this.#warn(error);
        await this.#parts.clock.sleep(storeRetryMs);
      }
    }
  }

  #warn(error: unknown): void {
    const { id } = this.#attempt.job;
    this.#parts.logger.warn(`cannot read or write the steps of job ${id}; it is tried again`, { id, error });
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** Resolves when no step is running, and none was started in the turn of the event loop after the last has ended. */
  async #whenIdle(): Promise<void> {
    for (;;) {
      if (this.#running > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
      await turn();
      if (this.#running === 0) return;
    }
  }

  /** Aborted with the attempt, and when the handler has returned or thrown. */
  get #signal(): AbortSignal {
    return (this.#signalOrNull ??= AbortSignal.any([this.#attempt.signal, this.#abort.signal]));
  }

  #now(): number {
    return this.#parts.store.now();
  }
}

/** Whether an error says how the whole attempt goes on, so that the step is not retried. */
const endsAttempt = (error: unknown): boolean =>
  isA(Fail, error) || isA(RateLimited, error) || isA(RetryAfter, error) || isA(Sleeping, error) || isA(Snooze, error);

/** Whether a step or sleep has ended. An answer that came early for its name does not count: no wait has this name. */
const isEnded = (step: StoredStep | undefined): step is EndedStep =>
  step !== undefined && isEndedStep(step) && !isEarlyAnswer(step);

function retryOfStep(options: StepOptions, work: unknown): RetryPolicy {
  if (typeof work !== 'function') throw new Refusal('malformed.option', 'a step needs a function: step(name, () => …)');
  checkFields('a step', options, ['retry']);
  if (options.retry === undefined) return once;
  checkFields('retry', options.retry, ['attempts', 'backoff', 'base', 'max', 'jitter']);
  return retryOf(retryPolicyOf(options.retry));
}

const usedTwice = (id: number, name: string): Refusal =>
  new Refusal('taken.step', `job ${id} has a step ${JSON.stringify(name)} already: give each step its own name`, {
    id,
    step: name,
  });

const tooLate = (id: number, name: string): Refusal => {
  const message = `step ${JSON.stringify(name)} of job ${id} began after its handler had returned or thrown: await each step`;
  return new Refusal('malformed.option', message, { id, step: name });
};

const tooMany = (id: number): Refusal =>
  new Refusal('malformed.number', `job ${id} has more than ${stepsMax} steps: use tasks, or larger steps`, { id });
