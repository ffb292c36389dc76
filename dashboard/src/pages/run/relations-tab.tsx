/** The relations of a run: its flow, definition, parent and tasks. */
import type { JSX } from 'preact';
import type { RunDetail, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { RunBadge } from '../../components/badge.tsx';
import { Failure, Loading } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { href } from '../../router.ts';
import { textOf } from '../../search.ts';
import { useResource } from '../../state/resource.ts';
import { plural } from '../../format.ts';

const shownMax = 20;

export function RelationsTab({ run }: { readonly run: RunDetail }): JSX.Element {
  const parent = useResource(
    async (abort) => (run.parent === null ? null : call('getRun', { params: { id: run.parent } }, abort)),
    [run.parent],
  );
  const request = { params: { id: run.id }, query: { limit: shownMax } };
  const tasks = useResource((abort) => call('listTasks', request, abort), [run.id]);
  if (parent.error !== null) return <Failure error={parent.error} onRetry={parent.reload} />;
  if (tasks.data === null) return <Loading />;
  const total = run.tasks?.total ?? tasks.data.items.length;
  return (
    <section class="card">
      <ul class="tree">
        {run.flow !== null && <li><span>Flow <a class="mono" href={href(`/flows/${run.flow}`)}>{run.flow}</a></span></li>}
        {run.def !== null && (
          <li>
            <span>Definition <a href={href('/definitions', { name: run.def })}>{run.def}</a></span>
            {run.tick !== null && (
              <span class="faint">
                {' '}schedule {run.tick.schedule + 1}, tick of <Time at={run.tick.nominal} isExact />
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
                      <a href={href('/runs', { search: `parent:${run.id}` })}>View all {plural(total, 'task')}</a>
                    </li>
                  )}
                </ul>
              )}
            </li>
          </ul>
        </li>
      </ul>
      <p class="faint">
        <a href={runsWith('type', run.type)}>Other runs of {run.type}</a>
        {run.def !== null && <> · <a href={runsWith('def', run.def)}>Other runs of {run.def}</a></>}
      </p>
    </section>
  );
}

const runsWith = (name: 'type' | 'def', value: string): string =>
  href('/runs', { search: textOf([{ name, value }]) });

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
