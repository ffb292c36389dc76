/** Questions of handlers that wait, over HTTP: list and answer them, also with the token of a link. */
import type { OpenQuestion } from '../../engine/answer-actions.ts';
import type { AnswerRole } from '../../model/question.ts';
import { includesRole } from '../access/access.ts';
import { redactText, redactTexts, type Visibility } from '../access/redact.ts';
import type { Role, QuestionView } from '../contract.ts';
import type { StoreRouteHandlers } from '../handler.ts';
import { runView } from '../views.ts';
import { act, checkCreator } from './runs.ts';
import { reply } from './work.ts';

type QuestionRouteNames = 'listQuestions' | 'answerRun' | 'getLinkQuestion' | 'answerByLink';

export const questionRoutes: StoreRouteHandlers<QuestionRouteNames> = {
  async listQuestions({ engine }, { query: { after, limit } }, { principal: { visibility } }) {
    const request = { ...(after === undefined ? {} : { after: cursorOf(after) }), ...(limit === undefined ? {} : { limit }) };
    const { questions, next } = await engine.openQuestions(request);
    const items = questions.map((question) => questionView(question, visibility));
    return { items, next: next === null ? null : `${next.job}:${next.name}` };
  },

  async answerRun({ engine }, { params: { id }, body: { name, value, why } }, { principal }) {
    if (!includesRole(principal.role, 'operator')) await checkCreator(engine, id, principal);
    const options = { ...act(principal, why), role: answerRole(principal.role) };
    return runView(await engine.answer(id, name, value ?? null, options), principal.visibility);
  },

  async getLinkQuestion({ engine, access }, { body: { token } }, { credentials }) {
    const question = await access.withSecret(credentials, () => engine.questionOf(token));
    return { ...questionView(question, 'full'), notBy: [] };
  },

  async answerByLink({ engine, access }, { body: { token, value } }, { credentials }) {
    return reply(await access.withSecret(credentials, () => engine.answerByToken(token, value ?? null)));
  },
};

function cursorOf(cursor: string): { job: number; name: string } {
  const colon = cursor.indexOf(':');
  return { job: Number(cursor.slice(0, colon)), name: cursor.slice(colon + 1) };
}

const answerRole = (role: Role): AnswerRole => (role === 'admin' || role === 'operator' ? role : 'producer');

const questionView = ({ ask, schema, notBy, ...question }: OpenQuestion, visibility: Visibility): QuestionView => ({
  ...question,
  ask: ask === null ? null : redactText(ask, visibility),
  schema: schema === null ? null : { ...redactTexts(schema, visibility) },
  notBy: visibility === 'full' ? [...notBy] : [],
});
