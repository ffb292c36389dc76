/**
 * The waits of an attempt: stores the question of a wait, and returns its answer when there is one. An answer that came
 * before the question is checked here; one that does not fit is refused, and the wait goes on.
 */
import { checkFields, checkList, checkName, checkOneOf, checkText } from '../../jobs/checks/values.ts';
import { closeWait, questionOf, storedAnswer, type ClosedWait } from '../../jobs/answer.ts';
import type { UnansweredCause } from '../../model/event.ts';
import { jsonText } from '../../model/json.ts';
import {
  answerRoles, isFromEarlierGeneration, noTimeoutDue, whyForbidden, type WaitQuestion,
} from '../../model/question.ts';
import {
  isEarlyAnswer, isEndedStep, isOpenWait, type EndedStep, type NewStep, type OpenWait, type StoredStep,
} from '../../model/step.ts';
import { isRefusal, Refusal } from '../../refusal.ts';
import type { Store } from '../../store/store.ts';
import { durationMs } from '../../time/duration.ts';
import { checkStorable, jsonSchemaText } from '../declare/json-schema.ts';
import { checked, type Schema } from '../declare/schema.ts';
import { AnswerTimedOut, LeaseLost } from '../handler/errors.ts';
import type { WaitOptions } from '../handler/step.ts';
import { answerTokenHash } from '../handler/token.ts';
import type { Attempt } from './attempt.ts';
import { stepScope } from './call-scope.ts';
import { withoutToken } from './without-token.ts';

/** The end of a step, or a question. `n`: the number of the step, if it is stored already. */
export type StepEnd = Omit<NewStep, 'job' | 'fence' | 'n'> & { readonly n?: number };

export interface WaitsParts {
  readonly store: Store;
  readonly by: string;
  readonly attempt: Attempt;
  /** Tries until the store answers or the attempt has ended. */
  readonly untilAnswered: <T>(ask: () => Promise<T>) => Promise<T>;
  /** Stores a question under the fence of the attempt; returns whether it is stored. */
  readonly write: (step: StepEnd) => Promise<boolean>;
}

/** The answer, or how long the handler waits for it. */
export type WaitOutcome =
  | { readonly value: unknown }
  | { readonly known: StoredStep; readonly until: number };

/** The options of a wait, checked. */
export interface CheckedWait {
  readonly question: Omit<WaitQuestion, 'until' | 'tokenHash'>;
  readonly schema: Schema | null;
  readonly timeoutMs: number | null;
  readonly notify: WaitOptions['notify'];
}

const askMax = 2_000;
const notByMax = 100;

export function checkedWait(options: WaitOptions): CheckedWait {
  const { ask, schema, timeout, role = 'operator', notBy = [], notify } =
    checkFields('a wait', options, ['ask', 'schema', 'timeout', 'role', 'notBy', 'notify']);
  if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
    throw new Refusal('malformed.option', 'pass schema of a wait as a schema of zod or another Standard Schema library');
  }
  if (notify !== undefined && typeof notify !== 'function') {
    throw new Refusal('malformed.option', 'notify of a wait must be a function: ({ token }) => …');
  }
  if (schema !== undefined) checkStorable('the answer of a wait', schema as Schema);
  const text = schema === undefined ? null : jsonSchemaText(schema as Schema);
  return {
    question: {
      ask: ask === undefined ? null : checkText('ask', ask, askMax),
      schema: text === null ? null : (JSON.parse(text) as WaitQuestion['schema']),
      role: checkOneOf('role', role, answerRoles),
      notBy: checkList('notBy', typeof notBy === 'string' ? [notBy] : notBy, notByMax, (by) => checkName('notBy', by)),
    },
    schema: (schema as Schema | undefined) ?? null,
    timeoutMs: timeout === undefined ? null : durationMs(timeout),
    notify,
  };
}

export class Waits {
  readonly #parts: WaitsParts;
  /** The version of the job up to which this attempt knows all answers. */
  #seen: number;

  constructor(parts: WaitsParts) {
    this.#parts = parts;
    this.#seen = parts.attempt.job.version;
  }

  get seen(): number {
    return this.#seen;
  }

  /** Returns the answer of a wait, or how long to wait for it; asks the question if it is not stored. */
  async outcome(name: string, wait: CheckedWait, stored: StoredStep | undefined): Promise<WaitOutcome> {
    for (let known = stored; ; ) {
      if (known !== undefined && isEndedStep(known)) {
        requireKind(known, 'wait');
        const answer = await this.#accepted(wait, known);
        if (!('cause' in answer)) {
          if (isEarlyAnswer(known)) await this.#keep(known);
          return answer;
        }
        known = await this.#close(name, answer.cause);
      } else if (this.#isAsked(known) && !needsNotice(wait, known)) {
        const { until } = questionOf(known);
        if (until === null || until > this.#parts.store.now()) return { known, until: until ?? noTimeoutDue };
        known = await this.#close(name, 'timeout');
      } else {
        known = await this.#ask(name, wait, known);
      }
    }
  }

  /** Gives an accepted answer that came early its place among the steps, so that a retry from a step knows the order. */
  async #keep({ name, startedAt, endedAt, result }: EndedStep): Promise<void> {
    const { attempt, write } = this.#parts;
    if (await write({ name, kind: 'wait', startedAt, endedAt, result, question: null })) return;
    throw lostStep(attempt, name);
  }

  /**
   * Returns the answer as the schema returns it, or why it is not accepted. Nobody has checked an answer that came early
   * (number 0). Any other was accepted, by a door with the rules of the question beside it, or by an earlier attempt
   * (`#keep`). It counts, also if the code has other rules since: the handler then gets it as it was given. As long as the
   * schema is the one that the door knew, the handler also checks what JSON Schema cannot express.
   */
  async #accepted(
    { question, schema }: CheckedWait,
    known: EndedStep,
  ): Promise<{ readonly value: unknown } | { readonly cause: UnansweredCause }> {
    const { name } = known;
    const answer = storedAnswer(name, known.result!);
    if ('timedOut' in answer) throw new AnswerTimedOut(name);
    if (isEarlyAnswer(known) && whyForbidden(question, answer) !== null) return { cause: 'role' };
    if (schema === null) return { value: answer.value };
    try {
      return { value: await checked(schema, answer.value, name) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return isEarlyAnswer(known) || wasAskedWith(question.schema, known) ? { cause: 'schema' } : { value: answer.value };
    }
  }

  /**
   * Stores the question, and calls `notify` with a token before the question counts as asked: after a crash in between,
   * the next attempt calls it again, with another token. Returns the row of the wait now.
   */
  async #ask(name: string, wait: CheckedWait, known: StoredStep | undefined): Promise<StoredStep | undefined> {
    const { attempt, store, write } = this.#parts;
    const { generation } = attempt.job;
    const startedAt = this.#isAsked(known) ? known.startedAt : store.now();
    const until = this.#isAsked(known)
      ? questionOf(known).until
      : wait.timeoutMs === null ? null : Math.min(startedAt + wait.timeoutMs, noTimeoutDue);
    const token = wait.notify === undefined ? null : attempt.answerToken();
    const tokenHash = token === null ? null : answerTokenHash(token);
    const row = { name, kind: 'wait', startedAt, endedAt: null, result: null } as const;
    const ask = (isNotified: boolean): Promise<boolean> => write({
      ...row,
      question: jsonText({ ...wait.question, until, tokenHash, generation, isNotified } satisfies StoredQuestion),
    });
    if (!(await ask(wait.notify === undefined))) return this.#endedRow(name);
    if (token !== null) {
      const link = { token, run: attempt.job.id, name };
      await stepScope.run({ of: attempt, name }, async () => wait.notify!(link)).catch((error: unknown) => {
        throw withoutToken(error, token);
      });
      if (!(await ask(true))) return this.#endedRow(name);
    }
    return this.#rowOf(name);
  }

  /** Whether the question is stored, and no retry has reopened the job since. */
  #isAsked(known: StoredStep | undefined): known is OpenWait {
    return known !== undefined && isOpenWait(known) && !isFromEarlierGeneration(questionOf(known), this.#parts.attempt.job);
  }

  /** Returns the row of a wait that could not be written: it has ended, or this attempt no longer holds the job. */
  async #endedRow(name: string): Promise<StoredStep> {
    const row = await this.#rowOf(name);
    if (isEndedStep(row)) return row;
    throw lostStep(this.#parts.attempt, name);
  }

  async #rowOf(name: string): Promise<StoredStep> {
    const { attempt, store, untilAnswered } = this.#parts;
    const found = await untilAnswered(() => store.stepNamed(attempt.job.id, name));
    if (found !== undefined && (isOpenWait(found) || isEndedStep(found))) return found;
    throw lostStep(attempt, name);
  }

  async #close(name: string, cause: UnansweredCause): Promise<StoredStep | undefined> {
    const { attempt, store, by, untilAnswered } = this.#parts;
    const { step, change } = await untilAnswered(() => closeWait(store, attempt.holding, { name, cause }, { by }))
      .catch((error: unknown): ClosedWait => {
        if (!isRefusal(error) || error.code !== 'lost.lease') throw error;
        throw lostStep(attempt, name);
      });
    if (change?.before?.version === this.#seen) this.#seen = change.after!.version;
    return step;
  }
}

/** A question and whether `notify` has been called for it. */
type StoredQuestion = WaitQuestion & { readonly isNotified: boolean };

/** Whether an answer was accepted for a question with this JSON Schema. */
const wasAskedWith = (schema: WaitQuestion['schema'], { job, name, question }: EndedStep): boolean =>
  question !== null && jsonText(questionOf({ job, name, question }).schema) === jsonText(schema);

const needsNotice = ({ notify }: CheckedWait, known: OpenWait): boolean =>
  notify !== undefined && !(questionOf(known) as StoredQuestion).isNotified;

/** Revokes the attempt; returns the error to throw. */
export function lostStep(attempt: Attempt, name: string): LeaseLost {
  const { id, fence } = attempt.holding;
  if (!attempt.isEnded) attempt.revoke();
  return new LeaseLost(`job ${id} is no longer held under fence ${fence}: step ${JSON.stringify(name)} is not stored`);
}

export function requireKind({ name, kind }: StoredStep, wanted: StoredStep['kind']): void {
  if (kind === wanted) return;
  const message = `cannot use ${JSON.stringify(name)} as a ${wanted}: an earlier attempt has stored it as a ${kind}`;
  throw new Refusal('taken.step', message, { step: name });
}
