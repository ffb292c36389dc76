/** Waiting for you: the questions of runs that wait for an answer, each with a form. */
import type { JSX } from 'preact';
import type { QuestionView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { AnswerForm } from '../components/answer-form.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { showToast } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { changesQuestions } from '../state/question-changes.ts';
import { useResource } from '../state/resource.ts';
import { mayAnswer } from '../state/session.ts';

const shownMax = 100;

function Questions(): JSX.Element {
  const list = useResource((abort) => call('listQuestions', { query: { limit: shownMax } }, abort), []);
  const questions = list.data?.items ?? [];
  useChanges({ kind: ['run', 'task'] }, (changes) => {
    if (changes === null || changesQuestions(changes, questions)) list.reload();
  });
  return (
    <>
      <header class="page-head"><h1>Waiting for you</h1></header>
      {list.error !== null && <Failure error={list.error} onRetry={list.reload} />}
      {list.data === null && list.error === null && <Loading />}
      {list.data !== null && questions.length === 0 && (
        <Empty title="Nothing waits for an answer" icon="question">
          A handler asks with <code>waitFor(…)</code>. Its questions appear here until somebody answers them.
        </Empty>
      )}
      <ul class="questions">
        {questions.map((question) => (
          <li key={`${question.run} ${question.name}`}><QuestionCard question={question} onDone={list.reload} /></li>
        ))}
      </ul>
      {list.data !== null && list.data.next !== null && (
        <p class="faint">These are the {shownMax} oldest. Answer some of them to see the others.</p>
      )}
    </>
  );
}

interface QuestionCardProps {
  readonly question: QuestionView;
  readonly onDone: () => void;
}

export function QuestionCard({ question, onDone }: QuestionCardProps): JSX.Element {
  const { run, type, name, ask, schema, role, notBy, askedAt, until } = question;
  const isAllowed = mayAnswer(role);
  const answer = async (value: unknown): Promise<void> => {
    await call('answerRun', { params: { id: run }, body: { name, value } });
    showToast(`Answered ${name} of run ${run}`);
    onDone();
  };
  return (
    <section class="question" aria-label={`Question ${name} of run ${run}`}>
      <h2>{ask ?? name}</h2>
      <p class="faint">
        <a href={href(`/runs/${run}`)}>{type} {run}</a> asks <b>{name}</b> <Time at={askedAt} />
        {until !== null && <>; it times out <Time at={until} /></>}
        {notBy.length > 0 && <>. Not by {notBy.join(', ')}</>}
      </p>
      {isAllowed
        ? <AnswerForm schema={schema} onAnswer={answer} />
        : <p class="faint">You need the role {role} to answer.</p>}
    </section>
  );
}

export const questionsPage: Page = {
  path: '/questions', title: 'Waiting for you', view: Questions, nav: { icon: 'question', key: 'w', group: 'Work' },
};
