/** Limits: the named limits, their use, and the values in the code beside those of an operator. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NamedLimitView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { askResume, letAllGo, type ResumeBody } from '../components/resume.tsx';
import { Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import { duration, number } from '../format.ts';
import type { Page } from '../page.ts';
import { now } from '../state/clock.ts';
import { useInterval } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { mayOperate } from '../state/session.ts';
import { EditLimit } from './limits/edit.tsx';

const reloadMs = 2_000;
/** A shorter wait is not shown: it would be over before the page is reloaded. */
const soonMs = 1_000;

function Limits(): JSX.Element {
  const limits = useResource((abort) => call('listLimits', {}, abort), []);
  const [edited, setEdited] = useState<{ readonly limit: NamedLimitView | null } | null>(null);
  useInterval(limits.reload, reloadMs);
  return (
    <>
      <header class="page-head">
        <h1>Limits</h1>
        {mayOperate.value && (
          <div class="page-actions">
            <button type="button" class="button" data-kind="primary" onClick={() => setEdited({ limit: null })}>New limit</button>
          </div>
        )}
      </header>
      {limits.error !== null && <Failure error={limits.error} onRetry={limits.reload} />}
      {limits.data === null && limits.error === null && <Loading />}
      {limits.data?.items.length === 0 && (
        <Empty title="No named limits" icon="limits">
          Declare one in your code with <code>limit('name', {'{'} rate: '500/1m' {'}'})</code>, and list it in the{' '}
          <code>limits</code> of a job type. Or create one here for types that list it by its name.
        </Empty>
      )}
      <div class="limits grid">
        {limits.data?.items.map((limit) => (
          <LimitCard key={limit.name} limit={limit} onEdit={() => setEdited({ limit })} onChange={limits.reload} />
        ))}
      </div>
      {edited !== null && <EditLimit {...edited} onClose={() => setEdited(null)} onDone={limits.reload} />}
    </>
  );
}

interface CardProps {
  readonly limit: NamedLimitView;
  readonly onEdit: () => void;
  readonly onChange: () => void;
}

function LimitCard({ limit, onEdit, onChange }: CardProps): JSX.Element {
  const { name, isKeyed, code, override, paused, spread, use } = limit;
  return (
    <section class="card" aria-label={`Limit ${name}`}>
      <h2>{name} {isKeyed && <span class="faint">for each key</span>}</h2>
      <dl class="facts">
        <Value label="Rate" limit={limit} textOf={rateText} isOverridden={override?.rate !== undefined} />
        <Value
          label="Concurrency" limit={limit} textOf={concurrencyText} isOverridden={override?.concurrency !== undefined}
        />
      </dl>
      {override !== null && (
        <p class="faint">{code === null ? 'Created' : 'Overridden'} by {override.by ?? 'an operator'}{override.why === null ? '' : `: ${override.why}`}</p>
      )}
      {paused !== null && (
        <p class="faint">
          <Badge status="held" text="paused" /> by {paused.by}{paused.why === null ? '' : `: ${paused.why}`}
        </p>
      )}
      {spread !== null && (
        <p class="faint">
          <Badge status="held" text="resuming evenly" /> ends <Time at={spread.until} />, by {spread.by}
          {spread.why === null ? '' : `: ${spread.why}`}
        </p>
      )}
      <ul>{use.map((each) => <Use key={each.key} use={each} limit={limit} />)}</ul>
      {mayOperate.value && (
        <footer class="card-actions">
          <button type="button" class="button" onClick={onEdit}><Icon name="edit" /> Override</button>
          {override !== null && code !== null && (
            <button type="button" class="button" onClick={() => void reset(name, onChange)}>
              <Icon name="retry" /> Reset
            </button>
          )}
          {paused === null ? (
            <button type="button" class="button" onClick={() => void pause(name, onChange)}>
              <Icon name="pause" /> Pause
            </button>
          ) : (
            <button type="button" class="button" onClick={() => askResume({ ...resumeOf(name, onChange), action: 'Resume limit' })}>
              <Icon name="play" /> Resume
            </button>
          )}
          {spread !== null && (
            <button type="button" class="button" onClick={() => void letAllGo(resumeOf(name, onChange))}>
              <Icon name="play" /> Let all go
            </button>
          )}
          {use.some(isShut) && (
            <button type="button" class="button" onClick={() => void reopen(limit, onChange)}>
              <Icon name="play" /> Reopen
            </button>
          )}
          {code === null && (
            <button type="button" class="button" onClick={() => void remove(name, onChange)}>
              <Icon name="trash" /> Delete
            </button>
          )}
        </footer>
      )}
    </section>
  );
}

type Values = NamedLimitView['values'];

interface ValueProps {
  readonly label: string;
  readonly limit: NamedLimitView;
  readonly textOf: (values: Values) => string;
  readonly isOverridden: boolean;
}

/** The value that applies; if an operator has overridden it, with the value in the code. */
function Value({ label, limit: { values, code }, textOf, isOverridden }: ValueProps): JSX.Element {
  return (
    <>
      <dt>{label}</dt>
      <dd>
        {textOf(values)}
        {isOverridden && code !== null && <span class="faint"> in the code: {textOf(code)}</span>}
      </dd>
    </>
  );
}

const rateText = ({ rate, burst }: Values): string =>
  (rate === null ? 'any' : `${rate}, ${number(burst ?? 1)} at once`);

const concurrencyText = ({ concurrency }: Values): string => (concurrency === null ? 'any' : number(concurrency));

interface UseProps {
  readonly use: NamedLimitView['use'][number];
  readonly limit: NamedLimitView;
}

function Use({ use: { key, admitted, opensAt, closedUntil }, limit: { values: { concurrency } } }: UseProps): JSX.Element {
  const opens = Math.max(opensAt, closedUntil ?? 0);
  const isClosed = closedUntil !== null && closedUntil > now.value;
  const isFull = concurrency !== null && admitted >= concurrency;
  const running = concurrency === null ? `${number(admitted)} running` : `${number(admitted)} of ${number(concurrency)}`;
  return (
    <li class="limit">
      <span>{key ?? 'running jobs'}</span>
      <span class="number">
        {running}
        {isFull && <> <Badge status="held" text="full" /></>}
        {opens > now.value + soonMs && <> <Badge
          status={isClosed ? 'failed' : 'pending'} text={`${isClosed ? 'closed' : 'next'} in ${duration(opens - now.value)}`}
        /></>}
      </span>
      {concurrency !== null && (
        <progress
          max={concurrency} value={Math.min(admitted, concurrency)} data-full={isFull}
          aria-label={`${key ?? 'running jobs'}: ${admitted} of ${concurrency}`}
        />
      )}
    </li>
  );
}

async function pause(name: string, onChange: () => void): Promise<void> {
  const text = 'No job that uses it starts until you resume it; running jobs continue. Everybody whose run waits sees the reason.';
  const reason = await confirm({ title: `Pause the limit ${name}?`, text, action: 'Pause limit' });
  if (reason === null) return;
  const body = { why: reason.why ?? 'no reason given' };
  await withToast(() => call('pauseLimit', { params: { name }, body }), () => `Paused the limit ${name}`);
  onChange();
}

const resumeOf = (name: string, onDone: () => void) => ({
  target: `the limit ${name}`, onDone,
  resume: (body: ResumeBody): Promise<unknown> => call('resumeLimit', { params: { name }, body }),
});

/** Whether no job can start at the limit for some time. */
const isShut = ({ opensAt, closedUntil }: NamedLimitView['use'][number]): boolean =>
  Math.max(opensAt, closedUntil ?? 0) > now.value + soonMs;

async function reopen({ name, isKeyed }: NamedLimitView, onChange: () => void): Promise<void> {
  const text = `Jobs start again at once, as many as the burst allows${isKeyed ? ', for each key' : ''}. What is used of the rate is forgotten.`;
  const body = await confirm({ title: `Reopen the limit ${name}?`, text, action: 'Reopen limit', isDanger: true });
  if (body === null) return;
  await withToast(() => call('reopenLimit', { params: { name }, body }), () => `Reopened the limit ${name}`);
  onChange();
}

async function reset(name: string, onChange: () => void): Promise<void> {
  const text = 'The override is removed; the values in the code apply from the next claim on.';
  const query = await confirm({ title: `Reset the limit ${name}?`, text, action: 'Reset limit', isDanger: true });
  if (query === null) return;
  await withToast(() => call('resetLimit', { params: { name }, query }), () => `Reset the limit ${name}`);
  onChange();
}

async function remove(name: string, onChange: () => void): Promise<void> {
  const text = 'Jobs that use its name are not limited by it any more, from the next claim on.';
  const query = await confirm({ title: `Delete the limit ${name}?`, text, action: 'Delete limit', isDanger: true });
  if (query === null) return;
  await withToast(() => call('deleteLimit', { params: { name }, query }), () => `Deleted the limit ${name}`);
  onChange();
}

export const limitsPage: Page = {
  path: '/limits', title: 'Limits', view: Limits, nav: { icon: 'limits', key: 'l', group: 'Plan' },
};
