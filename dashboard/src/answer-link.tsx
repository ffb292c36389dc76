/**
 * The page of a link that answers one question, for people who do not sign in. The token is in the fragment of the URL,
 * which browsers do not send to servers; opening the link does not use it up.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { call } from './api.ts';
import { AnswerForm } from './components/answer-form.tsx';
import { Empty, Failure, Loading } from './components/notice.tsx';
import { Time } from './components/time.tsx';
import { useResource } from './state/resource.ts';

export const answerLinkPath = '/answer';

export function AnswerLink(): JSX.Element {
  const token = location.hash.slice(1);
  const [isAnswered, setAnswered] = useState(false);
  const question = useResource((abort) => call('getLinkQuestion', { body: { token } }, abort), [token]);
  const answer = async (value: unknown): Promise<void> => {
    await call('answerByLink', { body: { token, value } });
    setAnswered(true);
  };
  document.title = 'Question · Stint';
  if (isAnswered) return <Framed><Empty title="Thank you" icon="succeeded">Your answer is stored.</Empty></Framed>;
  if (question.error !== null) return <Framed><Failure error={question.error} onRetry={question.reload} /></Framed>;
  if (question.data === null) return <Framed><Loading /></Framed>;
  const { ask, name, schema, until } = question.data;
  return (
    <Framed>
      <section class="question" aria-label={`Question ${name}`}>
        <h1>{ask ?? name}</h1>
        {until !== null && <p class="faint">You can answer until <Time at={until} isExact /></p>}
        <AnswerForm schema={schema} onAnswer={answer} />
      </section>
    </Framed>
  );
}

const Framed = ({ children }: { readonly children: JSX.Element }): JSX.Element => (
  <main id="main" class="answer-link">{children}</main>
);
