/** The steps of a run that are stored: results of steps, sleeps, and answers of waits; and the questions that wait. */
import type { JSX } from 'preact';
import type { RunDetail, StepView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { JsonView } from '../../components/json-view.tsx';
import { Empty, Failure, Loading } from '../../components/notice.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { useResource } from '../../state/resource.ts';
import { QuestionCard } from '../questions.tsx';

const shownMax = 1000;

export function StepsTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const { id } = run;
  const params = { id };
  const steps = useResource((abort) => call('getSteps', { params, query: { limit: shownMax } }, abort), [id, run.version]);
  const questions = useResource(
    async (abort) => (run.state === 'ended' ? [] : questionsOf(id, abort)), [id, run.version],
  );
  if (steps.error !== null) return <Failure error={steps.error} onRetry={steps.reload} />;
  if (steps.data === null) return <Loading />;
  const open = questions.data ?? [];
  if (steps.data.items.length === 0 && open.length === 0) {
    return (
      <Empty title="No steps are stored" icon="runs">
        A handler stores results with <code>step(…)</code>, and gives its slot back with <code>sleep(…)</code> and{' '}
        <code>waitFor(…)</code>.
      </Empty>
    );
  }
  return (
    <section class="stack">
      {open.map((question) => <QuestionCard key={question.name} question={question} onDone={questions.reload} />)}
      {steps.data.items.length > 0 && (
        <Table<StepView> label="Steps" rows={steps.data.items} columns={columns} idOf={({ n, name }) => `${n} ${name}`} />
      )}
    </section>
  );
}

/** The questions are listed by run, so that those of one run follow the place before it. */
async function questionsOf(id: number, abort: AbortSignal) {
  const { items } = await call('listQuestions', { query: { after: `${id - 1}:\u{10ffff}`, limit: 20 } }, abort);
  return items.filter(({ run }) => run === id);
}

const kindTexts: Readonly<Record<StepView['kind'], string>> = { step: 'Step', sleep: 'Sleep', wait: 'Answer' };

const columns: readonly Column<StepView>[] = [
  { title: 'Name', cell: ({ name }) => <span class="name">{name}</span> },
  { title: 'Kind', cell: ({ kind }) => kindTexts[kind] },
  { title: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  { title: 'Ended', cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    title: 'Result', class: 'wide',
    cell: ({ kind, name, result }) => (kind === 'sleep' ? '–' : <JsonView value={result} label={`Result of ${name}`} />),
  },
];
