/** The question of a wait, and its answer, as they are stored. */

export interface WaitQuestion {
  /** What is asked, in a sentence for people; null: only the name of the wait says it. */
  readonly ask: string | null;
  /** JSON Schema of the answer; null: any answer, or only the handler can check it. */
  readonly schema: Readonly<Record<string, unknown>> | null;
  /** The role that may answer, and those above it. */
  readonly role: AnswerRole;
  /** Who must not answer. */
  readonly notBy: readonly string[];
  /** When the wait ends without an answer; null: never. */
  readonly until: number | null;
  /** The hash of the token of the link with which the question can be answered once; null: there is no link. */
  readonly tokenHash: string | null;
  /** The generation of the job in which it was asked. Absent in questions that early versions of Stint have stored. */
  readonly generation?: number;
}

/** Whether a retry has reopened the job since it asked the question: its handler will ask again. */
export const isFromEarlierGeneration = (question: WaitQuestion, { generation }: { readonly generation: number }): boolean =>
  question.generation !== undefined && question.generation !== generation;

export const answerRoles = ['producer', 'operator', 'admin'] as const;
/** The roles that a question can require, from the lowest. */
export type AnswerRole = (typeof answerRoles)[number];

/** An answer, or that the wait has timed out. */
export type StoredAnswer =
  | { readonly value: unknown; readonly by: string; readonly role: AnswerRole | 'link' }
  | { readonly timedOut: true };

export interface Answerer {
  readonly by: string;
  /** `link`: who has the token of the link may answer, whatever the role. */
  readonly role: AnswerRole | 'link';
}

/** Returns why this person may not answer the question; null: the person may. */
export function whyForbidden({ role, notBy }: Pick<WaitQuestion, 'role' | 'notBy'>, answerer: Answerer): string | null {
  if (answerer.role === 'link') return null;
  const { by } = answerer;
  if (notBy.some((name) => personOf(name) === personOf(by))) return `${by} must not answer it: someone else has to`;
  const isHighEnough = answerRoles.indexOf(answerer.role) >= answerRoles.indexOf(role);
  return isHighEnough ? null : `it needs the role ${role}, and ${by} has the role ${answerer.role}`;
}

/** A person has one name at all doors: that of the HTTP API begins with `http:`, that of the command line with `cli `. */
const personOf = (by: string): string => by.replace(/^(http:|cli )/, '');

/** Whether the time for an answer is over, also if the handler has not noticed yet, because its type is paused for example. */
export const hasTimedOut = ({ until }: Pick<WaitQuestion, 'until'>, now: number): boolean => until !== null && until <= now;

/** When a job that waits without a timeout is due: in the year 9999. */
export const noTimeoutDue = Date.UTC(9999, 0);
