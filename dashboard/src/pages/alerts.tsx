/** Alerts: what each watches, what is failing now, and what was sent. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AlertView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { Badge } from '../components/badge.tsx';
import { confirm } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Failure, Loading } from '../components/notice.tsx';
import { Time } from '../components/time.tsx';
import { withToast } from '../components/toast.tsx';
import { number } from '../format.ts';
import type { Page } from '../page.ts';
import { useInterval } from '../state/live.ts';
import { useResource } from '../state/resource.ts';
import { mayOperate } from '../state/session.ts';
import { EditAlert } from './alerts/edit.tsx';
import { SentMessages } from './alerts/messages.tsx';

const reloadMs = 2_000;
const subjectsShown = 5;

/** The dialog that is open: the form for a new alert (`edit` of null) or a known one, or the messages of one. */
type Open = { readonly edit: AlertView | null } | { readonly messagesOf: string };

function Alerts(): JSX.Element {
  const alerts = useResource((abort) => call('listAlerts', {}, abort), []);
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  useInterval(alerts.reload, reloadMs);
  return (
    <>
      <header class="page-head">
        <h1>Alerts</h1>
        {mayOperate.value && (
          <div class="page-actions">
            <button type="button" class="button" data-kind="primary" onClick={() => setOpen({ edit: null })}>New alert</button>
          </div>
        )}
      </header>
      {alerts.error !== null && <Failure error={alerts.error} onRetry={alerts.reload} />}
      {alerts.data === null && alerts.error === null && <Loading />}
      {alerts.data?.items.length === 0 && (
        <Empty title="No alerts" icon="failures">
          An alert sends a message when runs fail, are late or take too long. Create one here, or declare it in your code with{' '}
          <code>jobAlert</code>.
        </Empty>
      )}
      <div class="limits grid">
        {alerts.data?.items.map((alert) => (
          <AlertCard key={alert.name} alert={alert} onOpen={setOpen} onChange={alerts.reload} />
        ))}
      </div>
      {open !== null && 'edit' in open && <EditAlert alert={open.edit} onClose={close} onDone={alerts.reload} />}
      {open !== null && 'messagesOf' in open && <SentMessages alert={open.messagesOf} onClose={close} />}
    </>
  );
}

interface CardProps {
  readonly alert: AlertView;
  readonly onOpen: (open: Open) => void;
  readonly onChange: () => void;
}

function AlertCard({ alert, onOpen, onChange }: CardProps): JSX.Element {
  const { name, when, to, every, recovered, override, subjects, failing, messages, lastSentAt } = alert;
  return (
    <section class="card" aria-label={`Alert ${name}`}>
      <h2>{name} <State alert={alert} /></h2>
      <dl class="facts">
        <dt>Watches</dt><dd>{watchText(alert)}</dd>
        <dt>When</dt><dd>{when}{recovered ? ', and recovered' : ''}</dd>
        <dt>To</dt><dd>{to}, at most every {every}</dd>
        <dt>Sent</dt><dd>{number(messages)}{lastSentAt !== null && <>, the last <Time at={lastSentAt} /></>}</dd>
      </dl>
      {override !== null && (
        <p class="faint">
          Changed by {override.by ?? 'an operator'}: {override.fields.join(', ')}{override.why === null ? '' : ` (${override.why})`}
        </p>
      )}
      <ul>
        {subjects.slice(0, subjectsShown).map(({ subject, since }) => (
          <li key={subject}>{subject} <span class="faint">since <Time at={since} /></span></li>
        ))}
        {failing > subjectsShown && <li class="faint">and {number(failing - subjectsShown)} more</li>}
      </ul>
      <footer class="card-actions">
        <button type="button" class="button" onClick={() => onOpen({ messagesOf: name })}><Icon name="runs" /> Messages</button>
        {mayOperate.value && <Actions alert={alert} onOpen={onOpen} onChange={onChange} />}
      </footer>
    </section>
  );
}

function Actions({ alert, onOpen, onChange }: CardProps): JSX.Element {
  const { name, enabled, override } = alert;
  return (
    <>
      <button type="button" class="button" onClick={() => void test(name, onChange)}><Icon name="play" /> Test</button>
      <button type="button" class="button" onClick={() => onOpen({ edit: alert })}><Icon name="edit" /> Edit</button>
      <button type="button" class="button" onClick={() => void toggle(alert, onChange)}>
        <Icon name={enabled ? 'pause' : 'play'} /> {enabled ? 'Disable' : 'Enable'}
      </button>
      {override !== null && (
        <button type="button" class="button" onClick={() => void reset(name, onChange)}><Icon name="retry" /> Reset</button>
      )}
      <button type="button" class="button" onClick={() => void remove(name, onChange)}><Icon name="trash" /> Delete</button>
    </>
  );
}

function State({ alert: { enabled, failing } }: { readonly alert: AlertView }): JSX.Element {
  if (!enabled) return <Badge status="held" text="disabled" />;
  return failing === 0 ? <Badge status="succeeded" text="ok" /> : <Badge status="failed" text={`${number(failing)} failing`} />;
}

const watchText = ({ definitions, types, tags }: AlertView): string => [
  ...(definitions.length + types.length === 0 ? ['all runs'] : []),
  ...definitions.map((pattern) => `definition ${pattern}`), ...types.map((pattern) => `type ${pattern}`),
  ...Object.entries(tags).map(([name, value]) => `tag ${name}=${value}`),
].join(', ');

async function test(name: string, onChange: () => void): Promise<void> {
  const sent = ({ run }: { readonly run: number }): string => `Run ${run} sends a test message`;
  await withToast(() => call('testAlert', { params: { name }, body: {} }), sent);
  onChange();
}

async function toggle({ name, enabled }: AlertView, onChange: () => void): Promise<void> {
  const done = `${enabled ? 'Disabled' : 'Enabled'} the alert ${name}`;
  await withToast(() => call('editAlert', { params: { name }, body: { enabled: !enabled } }), () => done);
  onChange();
}

async function reset(name: string, onChange: () => void): Promise<void> {
  const text = 'The changes of operators are removed; the settings in the code apply.';
  const query = await confirm({ title: `Reset the alert ${name}?`, text, action: 'Reset alert', isDanger: true });
  if (query === null) return;
  await withToast(() => call('resetAlert', { params: { name }, query }), () => `Reset the alert ${name}`);
  onChange();
}

async function remove(name: string, onChange: () => void): Promise<void> {
  const text = 'Nothing is sent any more, not even messages that wait. If code declares the alert, the next start creates it again.';
  const query = await confirm({ title: `Delete the alert ${name}?`, text, action: 'Delete alert', isDanger: true });
  if (query === null) return;
  await withToast(() => call('deleteAlert', { params: { name }, query }), () => `Deleted the alert ${name}`);
  onChange();
}

export const alertsPage: Page = {
  path: '/alerts', title: 'Alerts', view: Alerts, nav: { icon: 'failures', key: 'e', group: 'Plan' },
};
