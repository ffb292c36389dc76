/** The relations of a run: where it comes from, and what came of it. */
import type { JSX } from 'preact';
import type { RunDetail, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { RunBadge } from '../../components/badge.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { useAnswer } from '../../state/answer.ts';
import { plural } from '../../words.ts';

const shownMax = 20;

export function RelationsTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const parent = useAnswer(
    async (abort) => (run.parent === null ? null : call('getRun', { params: { id: run.parent } }, abort)),
    [run.parent],
  );
  const ask = { params: { id: run.id }, query: { limit: shownMax } };
  const tasks = useAnswer((abort) => call('listTasks', ask, abort), [run.id]);
  if (parent.error !== null) return <Failure error={parent.error} onRetry={parent.reload} />;
  if (tasks.data === null) return <Loading />;
  const total = run.tasks?.total ?? tasks.data.items.length;
  return (
    <section class="card">
      <ul class="tree">
        {run.def !== null && (
          <li>
            <span>Definition <a href={href('/definitions', { name: run.def })}>{run.def}</a></span>
            {run.tick !== null && (
              <span class="faint">
                {' '}schedule {run.tick.schedule + 1}, meant for <Time at={run.tick.nominal} isExact />
              </span>
            )}
          </li>
        )}
        <li>
          {parent.data !== null && <Leaf run={parent.data} />}
          <ul>
            <li aria-current="true">
              <Leaf run={run} />
              {tasks.data.items.length > 0 && (
                <ul>
                  {tasks.data.items.map((task) => <li key={task.id}><Leaf run={task} /></li>)}
                  {total > shownMax && (
                    <li>
                      <a href={href('/runs', { search: `parent:${run.id}` })}>All of its {plural(total, 'task')}</a>
                    </li>
                  )}
                </ul>
              )}
            </li>
          </ul>
        </li>
      </ul>
      <p class="faint">
        <a href={href('/runs', { search: `type:${run.type}` })}>Other runs of {run.type}</a>
        {run.def !== null && (
          <> · <a href={href('/runs', { search: `def:"${run.def}"` })}>other runs of {run.def}</a></>
        )}
      </p>
    </section>
  );
}

function Leaf({ run }: { readonly run: RunView }): JSX.Element {
  return (
    <span class="leaf">
      <RunBadge run={run} />
      <a class="mono" href={href(`/runs/${run.id}`)}>{run.id}</a>
      <span>{run.type}</span>
      {run.key !== null && <span class="faint">{run.key}</span>}
    </span>
  );
}
