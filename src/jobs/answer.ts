/**
 * Answers: stores the answer of a wait, and ends or reopens a wait for its handler. All of these change the job, and are
 * guarded by its version, so that of an answer, a timeout and a cancel exactly one is stored.
 */
import { applyTogether, type Asker } from '../apply.ts';
import type { Change } from '../model/change.ts';
import { parsePayload } from '../model/encoded-payload.ts';
import type { UnansweredCause } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import { jsonText } from '../model/json.ts';
import { step } from '../model/machine.ts';
import {
  hasTimedOut, isFromEarlierGeneration, type Answerer, type WaitQuestion, type StoredAnswer,
} from '../model/question.ts';
import {
  beforeSteps, earlyAnswersMax, isEndedStep, isOpenWait, type OpenWait, type StoredStep, type WaitEnd,
} from '../model/step.ts';
import { Refusal } from '../refusal.ts';
import type { Holding, Store } from '../store/store.ts';
import { sleepOf } from './latest-sleep.ts';
import { workOf } from './work-of.ts';

export interface GivenAnswer {
  readonly name: string;
  readonly value: unknown;
  readonly answerer: Answerer;
  /** Checks the answer against the question; null: the handler has not asked yet. */
  readonly check: (question: WaitQuestion | null) => Promise<Refusal | null>;
}

/** Stores the answer of a wait. A job that waits for it is due at once. */
export async function answerWait(store: Store, id: number, given: GivenAnswer, asker: Asker): Promise<Job> {
  const { name, value, answerer } = given;
  const result = jsonText({ value, ...answerer } satisfies StoredAnswer);
  let ends: readonly WaitEnd[] = [];
  const [change] = await applyTogether(store, async () => {
    const job = await workOf(store, id);
    const known = await store.stepNamed(id, name);
    const asking = { ...asker, now: store.now() };
    const isAwaited = known !== undefined && isOpenWait(known) && (await sleepOf(store, job))?.waits === true;
    const answered = step(job, { do: 'answer', name, ...(isAwaited ? { due: asking.now } : {}) }, asking);
    if (answered instanceof Refusal) return answered;
    const refusal = await refusalOf(store, job, given, known);
    if (refusal !== null) return refusal;
    ends = [{ job: id, name, at: answered.after!.changed, result }];
    return [answered];
  }, () => ({ waitEnds: ends }));
  return change!.after!;
}

async function refusalOf(
  store: Store,
  job: Job,
  { name, check }: GivenAnswer,
  known: StoredStep | undefined,
): Promise<Refusal | null> {
  const { id } = job;
  if (known !== undefined && isEndedStep(known)) return alreadyEnded(id, known);
  if (known !== undefined && isOpenWait(known)) {
    const question = questionNow(known, job);
    return hasTimedOut(question, store.now()) ? taken(id, name, `has timed out at ${timeText(question.until!)}`) : check(question);
  }
  const early = (await store.steps([id], beforeSteps, earlyAnswersMax)).filter(({ n }) => n === 0);
  if (early.length < earlyAnswersMax) return check(null);
  const message = `job ${id} has ${earlyAnswersMax} answers that its handler has not asked for: answer ${JSON.stringify(name)} when it waits`;
  return new Refusal('malformed.number', message, { id });
}

function alreadyEnded(id: number, { name, kind, endedAt, result }: StoredStep): Refusal {
  const what = `${JSON.stringify(name)} of job ${id}`;
  if (kind !== 'wait') return new Refusal('taken.step', `${what} is a ${kind}, which needs no answer`, { id, step: name });
  const answer = storedAnswer(name, result!);
  const at = timeText(endedAt!);
  return taken(id, name, 'timedOut' in answer ? `has timed out at ${at}` : `was answered by ${answer.by} at ${at}`);
}

const taken = (id: number, name: string, how: string): Refusal =>
  new Refusal('taken.answer', `${JSON.stringify(name)} of job ${id} ${how}: the first counts`, { id, wait: name });

const timeText = (at: number): string => new Date(at).toISOString();

/** How a wait ends or begins again: it times out, or its handler refuses an answer that came before the question. */
export interface WaitClosing {
  readonly name: string;
  readonly cause: UnansweredCause;
}

export interface ClosedWait {
  /** The row of the wait now. If it was answered before it could time out, it has that answer. */
  readonly step: StoredStep | undefined;
  /** Null: nothing was changed. */
  readonly change: Change | null;
}

/** Ends a wait that has timed out, or reopens one whose answer its handler has refused, under the fence of the handler. */
export async function closeWait(
  store: Store,
  { id, fence }: Holding,
  { name, cause }: WaitClosing,
  asker: Asker,
): Promise<ClosedWait> {
  const isTimeout = cause === 'timeout';
  let known: StoredStep | undefined;
  let ends: readonly WaitEnd[] = [];
  const [change] = await applyTogether(store, async () => {
    const job = await workOf(store, id);
    known = await store.stepNamed(id, name);
    const isLate = known !== undefined && isEndedStep(known) === isTimeout;
    if (isLate) return [];
    const closed = step(job, { do: 'unanswer', fence, name, cause }, { ...asker, now: store.now() });
    if (closed instanceof Refusal) return closed;
    const at = closed.after!.changed;
    ends = [{ job: id, name, at, result: isTimeout ? jsonText({ timedOut: true } satisfies StoredAnswer) : null }];
    return [closed];
  }, () => ({ waitEnds: ends }));
  if (change === undefined) return { step: known, change: null };
  return { step: await store.stepNamed(id, name), change };
}

export const questionOf = ({ job, name, question }: Pick<OpenWait, 'job' | 'name' | 'question'>): WaitQuestion =>
  parsePayload(question, `the question ${name} of job ${job}`) as unknown as WaitQuestion;

/**
 * Returns the question as it can be answered now. After a retry of its job, its timeout and its link are no longer valid;
 * the handler will ask again, with new ones.
 */
export function questionNow(wait: OpenWait, job: Job): WaitQuestion {
  const question = questionOf(wait);
  return isFromEarlierGeneration(question, job) ? { ...question, until: null, tokenHash: null } : question;
}

export const storedAnswer = (name: string, result: string): StoredAnswer =>
  parsePayload(result, `the answer to ${name}`) as unknown as StoredAnswer;
