/** Failures, grouped by what went wrong: how often, since when, and what to do about all of a group at once. */
import type { JSX } from 'preact';
import type { FailureGroupView, Saying, SeriesRange } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { attempt, say } from '../components/toast.tsx';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { useChanges } from '../state/live.ts';
import { mayOperate } from '../state/session.ts';
import { number, plural } from '../words.ts';
import { Spark } from './failures/spark.tsx';

const ranges: readonly SeriesRange[] = ['1h', '6h', '1d', '7d', '90d'];

function Failures(): JSX.Element {
  const said = queryOf('range') as SeriesRange;
  const range = ranges.includes(said) ? said : '1d';
  const type = queryOf('type');
  const query = { range, ...(type === '' ? {} : { type }) };
  const failures = useAnswer((abort) => call('listFailures', { query }, abort), [range, type]);
  useChanges({ kind: ['run', 'task', 'bedrock'] }, (changes) => {
    if (changes === null || changes.some(({ event }) => failing.has(event.kind))) failures.reload();
  });
  return (
    <>
      <header class="page-head">
        <h1>Failures</h1>
        <div class="page-acts">
          <div class="segments" role="group" aria-label="Failed within">
            {ranges.map((one) => (
              <button
                key={one} type="button" aria-pressed={one === range}
                onClick={() => setQuery({ range: one === '1d' ? null : one }, false)}
              >
                {one}
              </button>
            ))}
          </div>
        </div>
      </header>
      {type !== '' && (
        <p class="filter-note">
          Only of type <b>{type}</b>.{' '}
          <button type="button" class="link" onClick={() => setQuery({ type: null })}>Show all</button>
        </p>
      )}
      {failures.error !== null && <Failure error={failures.error} onRetry={failures.reload} />}
      {failures.data === null && failures.error === null && <Loading />}
      {failures.data?.items.length === 0 && (
        <Empty title="Nothing has failed in this time" icon="succeeded">Choose a longer time, or be glad.</Empty>
      )}
      {failures.data?.isCut === true && (
        <p class="filter-note">
          There are more than the {number(failures.data.scanned)} newest jobs that were looked at: counts and first
          times are of those.
        </p>
      )}
      <ul class="failure-groups" aria-label="Groups of failures">
        {failures.data?.items.map((group) => <Group key={group.fingerprint} group={group} onDone={failures.reload} />)}
      </ul>
    </>
  );
}

const failing: ReadonlySet<string> = new Set(['failed', 'retried', 'reopened', 'cancelled']);

interface GroupProps {
  readonly group: FailureGroupView;
  readonly onDone: () => void;
}

function Group({ group, onDone }: GroupProps): JSX.Element {
  const { type, code, message, failed, retrying, firstAt, lastAt, buckets, samples } = group;
  return (
    <li class="failure-group">
      <div class="failure-what">
        <p class="failure-message">{message}</p>
        <p class="failure-facts">
          <a href={href('/types', { name: type })}>{type}</a>
          {code !== 'unknown' && <Chip>{code}</Chip>}
          <span class="faint">first <Time at={firstAt} />, last <Time at={lastAt} /></span>
          <span>
            {samples.map(({ id, kind }) => (
              <a key={id} class="id" href={href(`/runs/${id}`)} title={`${kind} ${id}`}>{id}</a>
            ))}
            {failed + retrying > samples.length && (
              <span class="faint"> and {number(failed + retrying - samples.length)} more</span>
            )}
          </span>
        </p>
      </div>
      <Spark values={buckets} label={`${type}: ${message.slice(0, 80)}`} />
      <div class="failure-counts">
        {failed > 0 && <Badge look="failed" word={`${number(failed)} failed`} />}
        {retrying > 0 && <Badge look="pending" word={`${number(retrying)} retrying`} />}
      </div>
      {mayOperate.value && (
        <div class="failure-acts">
          {failed > 0 && (
            <button type="button" class="button" onClick={() => void retryAll(group, onDone)}>
              <Icon name="retry" /> Retry all
            </button>
          )}
          {retrying > 0 && (
            <button type="button" class="button" data-kind="danger" onClick={() => void cancelAll(group, onDone)}>
              <Icon name="cancelling" /> Cancel all
            </button>
          )}
        </div>
      )}
    </li>
  );
}

async function retryAll(group: FailureGroupView, onDone: () => void): Promise<void> {
  const hasTasks = group.samples.some(({ kind }) => kind === 'task');
  const says = hasTasks
    ? 'The runs they belong to are opened again, and what failed in them is tried once more.'
    : 'Each is opened again and runs from the start.';
  const title = `Retry ${plural(group.failed, 'failure')} of ${group.type}?`;
  const consent = await confirm({ title, says: withMessage(group, says), verb: 'Retry all' });
  if (consent !== null) await begin({ action: 'retry', ...whomOf(group, 'failed'), ...consent }, onDone);
}

async function cancelAll(group: FailureGroupView, onDone: () => void): Promise<void> {
  const title = `Cancel ${plural(group.retrying, 'job')} of ${group.type}?`;
  const says = withMessage(group, 'They are not tried again, and end as cancelled.');
  const consent = await confirm({ title, says, verb: 'Cancel all', isDanger: true });
  if (consent !== null) await begin({ action: 'cancel', ...whomOf(group, 'open'), ...consent }, onDone);
}

type Whom = Pick<Saying<'bulk'>['body'], 'filter' | 'fingerprint'>;

const whomOf = ({ type, fingerprint }: FailureGroupView, state: 'failed' | 'open'): Whom => ({
  filter: { type: [type], state: [state], kind: ['run', 'task', 'bedrock'] }, fingerprint,
});

const withMessage = ({ message }: FailureGroupView, says: string): JSX.Element => (
  <><p>{says}</p><p class="failure-message">{message.slice(0, 300)}</p></>
);

async function begin(body: Saying<'bulk'>['body'], onDone: () => void): Promise<void> {
  const started = await attempt(() => call('bulk', { body }));
  if (started === null) return;
  const { count, operation } = started;
  const link = { href: href(`/runs/${operation}`), text: 'Follow it' };
  say(`${plural(count, 'job')} under way as operation ${operation}`, link);
  onDone();
}

export const failuresPage: Page = {
  path: '/failures', title: 'Failures', view: Failures, nav: { icon: 'failures', key: 'f', group: 'Work' },
};
