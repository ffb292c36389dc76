/** Answer actions: list the questions of handlers that wait, and answer them, by name or with the token of a link. */
import { createHash } from 'node:crypto';
import { answerWait, questionNow, storedAnswer } from '../jobs/answer.ts';
import { checkLimit } from '../jobs/checks/query.ts';
import { checkId, checkName, checkOneOf, checkWhole } from '../jobs/checks/values.ts';
import { isEncodedPayload } from '../model/encoded-payload.ts';
import { isOpen, type Job } from '../model/job.ts';
import { jsonText } from '../model/json.ts';
import { answerRoles, hasTimedOut, whyForbidden, type Answerer, type WaitQuestion } from '../model/question.ts';
import type { OpenWait } from '../model/step.ts';
import { isRefusal, Refusal } from '../refusal.ts';
import type { Store, WaitCursor } from '../store/store.ts';
import type { Clock } from '../time/clock.ts';
import { Throttle } from '../time/throttle.ts';
import type { AuditTrail } from './audit-trail.ts';
import { schemaFromText } from './declare/json-schema.ts';
import { answerTokenHash, parseAnswerToken } from './handler/token.ts';
import type { ActOptions, AnswerOptions } from './run-handle.ts';
import type { Stores } from './stores.ts';
import type { StoreWorkers } from './store-workers.ts';

/** A question of a handler that waits for its answer. */
export interface OpenQuestion extends Pick<WaitQuestion, 'ask' | 'schema' | 'role' | 'notBy' | 'until'> {
  readonly run: number;
  readonly type: string;
  readonly name: string;
  readonly askedAt: number;
}

export interface OpenQuestionsRequest {
  /** Only questions after this one. Default: from the oldest run. */
  readonly after?: WaitCursor;
  /** At most 200; default: 50. */
  readonly limit?: number;
}

export interface OpenQuestions {
  readonly questions: readonly OpenQuestion[];
  /** Where the next page begins; null: this is the last. */
  readonly next: WaitCursor | null;
}

export interface AnswerParts {
  readonly stores: Stores;
  readonly workers: StoreWorkers;
  readonly audit: AuditTrail;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const pageDefault = 50;
const pageMax = 200;
/** An answer that is refused again within this time, for the same cause, gets no further record. */
const refusalWindowMs = 3_600_000;
const wrongLinksPerMinute = 60;
const byLink: Answerer = { by: 'link', role: 'link' };

export class AnswerActions {
  readonly #parts: AnswerParts;
  readonly #wrongLinks: Throttle;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#wrongLinks = new Throttle(parts.clock, wrongLinksPerMinute);
  }

  /** Answers a question. What is refused is recorded in the audit, too, if the options name a person. */
  async answer(id: number, name: string, value: unknown, { role = 'admin', ...act }: AnswerOptions = {}): Promise<Job> {
    const { audit } = this.#parts;
    checkId(id);
    checkName('name of a wait', name);
    const answerer = { by: audit.asker(act).by, role: checkOneOf('role', role, answerRoles) };
    try {
      return await this.#answer(id, name, value, answerer, act);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (await this.#isRepeated(id, name, value, answerer)) return (await this.#storeOf(id).load([id]))[0]!;
      if (act.by !== undefined) await this.#recordRefused(id, name, error, act);
      throw error;
    }
  }

  /** Answers a question with the token of its link. The token is valid for one answer. */
  async answerByToken(token: string, value: unknown): Promise<Job> {
    const { job, name } = await this.#waitOf(token).catch(async (error: unknown) => {
      if (isRefusal(error) && error.code === 'unknown.wait') await this.#recordWrongLink(token, error);
      throw error;
    });
    try {
      return await this.#answer(job, name, value, byLink, { by: byLink.by }, answerTokenHash(token));
    } catch (error) {
      if (isRefusal(error)) await this.#recordRefused(job, name, error, { by: byLink.by });
      throw error;
    }
  }

  /** Returns the question that a token answers. */
  async questionOf(token: string): Promise<OpenQuestion> {
    const wait = await this.#waitOf(token);
    const [job] = await this.#storeOf(wait.job).load([wait.job]);
    return view(wait, job!);
  }

  /** Returns open questions of runs that have not ended, oldest run first. In-memory runs are not listed. */
  async open({ after, limit = pageDefault }: OpenQuestionsRequest = {}): Promise<OpenQuestions> {
    const { store } = this.#parts.stores.database;
    checkLimit(limit, pageMax);
    if (after !== undefined) {
      checkWhole('after.job', after.job, 0, Number.MAX_SAFE_INTEGER);
      checkName('after.name', after.name);
    }
    const questions: OpenQuestion[] = [];
    for (let cursor: WaitCursor | null = after ?? null; ; ) {
      const page: readonly OpenWait[] = await store.openWaits(cursor, limit - questions.length);
      questions.push(...(await shown(store, page)));
      const last = page.at(-1);
      cursor = last === undefined ? cursor : { job: last.job, name: last.name };
      if (last === undefined) return { questions, next: null };
      if (questions.length === limit) return { questions, next: cursor };
    }
  }

  /** `tokenHash`: the answer is only for the question with this token, which may be asked again with another meanwhile. */
  async #answer(
    id: number,
    name: string,
    value: unknown,
    answerer: Answerer,
    act: ActOptions,
    tokenHash?: string,
  ): Promise<Job> {
    const { workers, audit } = this.#parts;
    jsonText(value);
    const check = async (question: WaitQuestion | null): Promise<Refusal | null> => {
      if (tokenHash !== undefined && question?.tokenHash !== tokenHash) return invalidLink();
      return question && refusalOf(id, name, value, question, answerer);
    };
    const given = { name, value, answerer, check };
    const job = await audit.performOnJob('answer', id, act, ({ store }) => answerWait(store, id, given, audit.asker(act)));
    workers.wake();
    return job;
  }

  /** Whether this answer is stored already, as after a request whose reply was lost. */
  async #isRepeated(id: number, name: string, value: unknown, { by, role }: Answerer): Promise<boolean> {
    const known = await this.#storeOf(id).stepNamed(id, name);
    if (known?.kind !== 'wait' || known.result === null || isEncodedPayload(known.result)) return false;
    const answer = storedAnswer(name, known.result);
    return !('timedOut' in answer) && answer.by === by && answer.role === role && jsonText(answer.value) === jsonText(value);
  }

  /**
   * Records that an answer was refused: for each run, wait, person and cause once an hour. Somebody who repeats a wrong
   * answer, or tries many, does not fill the audit.
   */
  async #recordRefused(id: number, name: string | null, { code, message }: Refusal, act: ActOptions): Promise<void> {
    const { stores, audit } = this.#parts;
    const before = name === null ? null : { wait: name };
    const entry = { action: 'answer refused', job: id, def: null, before, after: { code, message } };
    const asker = audit.asker(act);
    const key = createHash('sha256').update(JSON.stringify([id, name, asker.by, code])).digest('hex');
    await stores.database.audit(entry, asker, { key: `stint.answer-refused/${key}`, forMs: refusalWindowMs });
  }

  /**
   * Records the use of a link that is not valid, or no longer. Anybody can send tokens with the ids of many runs: one
   * instance records at most `wrongLinksPerMinute`.
   */
  async #recordWrongLink(token: string, error: Refusal): Promise<void> {
    const id = parseAnswerToken(token);
    if (this.#wrongLinks.waitFor('') > 0) return;
    const [job] = await this.#storeOf(id).load([id]);
    if (job === undefined || (job.kind !== 'run' && job.kind !== 'task')) return;
    this.#wrongLinks.count('');
    await this.#recordRefused(id, null, error, { by: byLink.by });
  }

  async #waitOf(token: string): Promise<OpenWait> {
    const id = parseAnswerToken(token);
    const hash = answerTokenHash(token);
    const [job] = await this.#storeOf(id).load([id]);
    for (let cursor: WaitCursor = { job: id, name: '' }; job !== undefined && isOpen(job); ) {
      const page = (await this.#storeOf(id).openWaits(cursor, pageMax)).filter((wait) => wait.job === id);
      const found = page.find((wait) => questionNow(wait, job).tokenHash === hash);
      if (found && hasTimedOut(questionNow(found, job), this.#storeOf(id).now())) break;
      if (found) return found;
      if (page.length < pageMax) break;
      cursor = page.at(-1)!;
    }
    throw invalidLink();
  }

  #storeOf(id: number): Store {
    return this.#parts.stores.forJob(id).store;
  }
}

const invalidLink = (): Refusal =>
  new Refusal('unknown.wait', 'this link was used already, or its question has timed out or is no longer asked', {});

async function shown(store: Store, waits: readonly OpenWait[]): Promise<OpenQuestion[]> {
  const jobs = new Map((await store.load([...new Set(waits.map(({ job }) => job))])).map((job) => [job.id, job]));
  return waits.flatMap((wait) => {
    const job = jobs.get(wait.job);
    return job !== undefined && isOpen(job) ? [view(wait, job)] : [];
  });
}

function view(wait: OpenWait, job: Job): OpenQuestion {
  const { ask, schema, role, notBy, until } = questionNow(wait, job);
  return { run: wait.job, type: job.type, name: wait.name, askedAt: wait.startedAt, ask, schema, role, notBy, until };
}

/** Checks an answer by the rules of the question, in a program that may not have the code of the handler. */
async function refusalOf(
  id: number,
  name: string,
  value: unknown,
  question: WaitQuestion,
  answerer: Answerer,
): Promise<Refusal | null> {
  const what = `${JSON.stringify(name)} of run ${id}`;
  const forbidden = whyForbidden(question, answerer);
  if (forbidden !== null) return new Refusal('forbidden.answer', `cannot answer ${what}: ${forbidden}`, { id, wait: name });
  const schema = question.schema === null ? null : schemaFromText(JSON.stringify(question.schema));
  const outcome = await schema?.['~standard'].validate(value);
  if (outcome?.issues === undefined) return null;
  const issues = outcome.issues.map(({ message, path = [] }) => ({ path: path.map(String).join('.'), message }));
  const problems = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  return new Refusal('malformed.answer', `the answer to ${what} does not match its schema: ${problems}`, { id, wait: name, issues });
}
