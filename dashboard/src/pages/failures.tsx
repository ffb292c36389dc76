/** Failures, grouped by type and error: how often, since when, and actions on a whole group. */
import type { JSX } from 'preact';
import type { FailureGroupView, RequestArguments, SeriesRange } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge, Chip } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { RangeButtons } from '../components/range-buttons.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { Time } from '../components/time.tsx';
import { showToast, withToast } from '../components/toast.tsx';
import { number, plural } from '../format.ts';
import type { Page } from '../page.ts';
import { href, queryOf, setQuery } from '../router.ts';
import { useChanges } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { mayOperate } from '../state/session.ts';
import { Spark } from './failures/spark.tsx';

const ranges: readonly SeriesRange[] = ['1h', '6h', '1d', '7d', '90d'];

function Failures(): JSX.Element {
  const chosen = queryOf('range') as SeriesRange;
  const range = ranges.includes(chosen) ? chosen : '1d';
  const type = queryOf('type');
  const query = { range, ...(type === '' ? {} : { type }) };
  const failures = useResource((abort) => call('listFailures', { query }, abort), [range, type]);
  useChanges({ kind: ['run', 'task', 'bedrock'] }, (changes) => {
    if (changes === null || changes.some(({ event }) => failureEvents.has(event.kind))) failures.reload();
  });
  return (
    <>
      <header class="page-head">
        <h1>Failures</h1>
        <SavedViews page="failures" />
        <div class="page-actions"><RangeButtons label="Period" ranges={ranges} range={range} first="1d" /></div>
      </header>
      {type !== '' && (
        <p class="filter-note">
          Type <b>{type}</b> only.{' '}
          <button type="button" class="link" onClick={() => setQuery({ type: null })}>Show all types</button>
        </p>
      )}
      {failures.error !== null && <Failure error={failures.error} onRetry={failures.reload} />}
      {failures.data === null && failures.error === null && <Loading />}
      {failures.data?.items.length === 0 && (
        <Empty title="No failures in this period" icon="succeeded">Choose a longer period to see older ones.</Empty>
      )}
      {failures.data?.isCut === true && (
        <p class="filter-note">
          Only the newest {number(failures.data.scanned)} failed and open jobs were examined. Counts and first times cover those.
        </p>
      )}
      <ul class="failure-groups" aria-label="Failure groups">
        {failures.data?.items.map((group) => <Group key={group.fingerprint} group={group} onDone={failures.reload} />)}
      </ul>
    </>
  );
}

const failureEvents: ReadonlySet<string> = new Set(['failed', 'retried', 'reopened', 'cancelled']);

interface GroupProps {
  readonly group: FailureGroupView;
  readonly onDone: () => void;
}

function Group({ group, onDone }: GroupProps): JSX.Element {
  const { type, message, failed, retrying, buckets } = group;
  return (
    <li class="failure-group">
      <div class="failure-what">
        <p class="failure-message">{message}</p>
        <GroupFacts group={group} />
      </div>
      <Spark values={buckets} label={`${type}: ${message.slice(0, 80)}`} />
      <div class="failure-counts">
        {failed > 0 && <Badge status="failed" text={`${number(failed)} failed`} />}
        {retrying > 0 && <Badge status="pending" text={`${number(retrying)} retrying`} />}
      </div>
      {mayOperate.value && <GroupActions group={group} onDone={onDone} />}
    </li>
  );
}

function GroupFacts({ group }: Pick<GroupProps, 'group'>): JSX.Element {
  const { type, code, failed, retrying, firstAt, lastAt, samples } = group;
  const rest = failed + retrying - samples.length;
  return (
    <p class="failure-facts">
      <a href={href('/types', { name: type })}>{type}</a>
      {code !== 'unknown' && <Chip>{code}</Chip>}
      <span class="faint">first <Time at={firstAt} />, last <Time at={lastAt} /></span>
      <span>
        {samples.map(({ id, kind }) => (
          <a key={id} class="id" href={href(`/runs/${id}`)} title={`${kind} ${id}`}>{id}</a>
        ))}
        {rest > 0 && <span class="faint"> and {number(rest)} more</span>}
      </span>
    </p>
  );
}

function GroupActions({ group, onDone }: GroupProps): JSX.Element {
  return (
    <div class="failure-actions">
      {group.failed > 0 && (
        <button type="button" class="button" onClick={() => void retryAll(group, onDone)}>
          <Icon name="retry" /> Retry all
        </button>
      )}
      {group.retrying > 0 && (
        <button type="button" class="button" data-kind="danger" onClick={() => void cancelAll(group, onDone)}>
          <Icon name="cancelling" /> Cancel all
        </button>
      )}
    </div>
  );
}

async function retryAll(group: FailureGroupView, onDone: () => void): Promise<void> {
  const hasTasks = group.samples.some(({ kind }) => kind === 'task');
  const effect = hasTasks ? 'The failed tasks run again, each in its run.' : 'Each runs again from the start.';
  const title = `Retry ${plural(group.failed, 'failure')} of ${group.type}?`;
  const reason = await confirm({ title, text: withMessage(group, effect), action: 'Retry all' });
  if (reason !== null) await start('Retrying', { action: 'retry', ...targetOf(group, 'failed'), ...reason }, onDone);
}

async function cancelAll(group: FailureGroupView, onDone: () => void): Promise<void> {
  const title = `Cancel ${plural(group.retrying, 'job')} of ${group.type}?`;
  const text = withMessage(group, 'They are not retried and end as cancelled.');
  const reason = await confirm({ title, text, action: 'Cancel all', isDanger: true });
  if (reason !== null) await start('Cancelling', { action: 'cancel', ...targetOf(group, 'open'), ...reason }, onDone);
}

type BulkBody = RequestArguments<'bulk'>['body'];

const targetOf = (
  { type, fingerprint }: FailureGroupView, state: 'failed' | 'open',
): Pick<BulkBody, 'filter' | 'fingerprint'> => ({
  filter: { type: [type], state: [state], kind: ['run', 'task', 'bedrock'] }, fingerprint,
});

const withMessage = ({ message }: FailureGroupView, effect: string): JSX.Element => (
  <><p>{effect}</p><p class="failure-message">{message.slice(0, 300)}</p></>
);

async function start(doing: string, body: BulkBody, onDone: () => void): Promise<void> {
  const started = await withToast(() => call('bulk', { body }));
  if (started === null) return;
  const { count, operation } = started;
  showToast(`${doing} ${plural(count, 'job')}`, { href: href(`/runs/${operation}`), text: 'View operation' });
  onDone();
}

export const failuresPage: Page = {
  path: '/failures', title: 'Failures', view: Failures, nav: { icon: 'failures', key: 'f', group: 'Work' },
};
