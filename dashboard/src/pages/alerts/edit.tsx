/** The dialog that creates an alert, or changes one. The target of a known alert is not shown; it stays unless another is given. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { AlertView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';

interface EditProps {
  /** Null: a new alert. */
  readonly alert: AlertView | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const conditions = [
  { value: 'same', label: 'as it is' },
  { value: 'failed', label: 'a run failed' },
  { value: 'failedInARow', label: 'failed n times in a row' },
  { value: 'late', label: 'late by' },
  { value: 'longerThan', label: 'running longer than' },
] as const;
const targets = [
  { value: 'slack', label: 'Slack-compatible URL' }, { value: 'webhook', label: 'Webhook' }, { value: 'smtp', label: 'Mail (SMTP)' },
] as const;

/** The fields as typed. */
interface Draft {
  readonly name: string;
  readonly definitions: string;
  readonly types: string;
  readonly condition: (typeof conditions)[number]['value'];
  readonly value: string;
  readonly target: (typeof targets)[number]['value'];
  readonly url: string;
  readonly every: string;
  readonly why: string;
}

export function EditAlert({ alert, onClose, onDone }: EditProps): JSX.Element {
  const [draft, setDraft] = useState(() => draftOf(alert));
  const [error, setError] = useState<string | null>(null);
  const set = <F extends keyof Draft>(field: F) => (value: Draft[F]): void => {
    setError(null);
    setDraft((last) => ({ ...last, [field]: value }));
  };
  const submit = async (): Promise<void> => {
    try {
      await save(alert, draft);
      showToast(alert === null ? `Created the alert ${draft.name}` : `Changed the alert ${alert.name}`);
      onClose();
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  const action = alert === null ? 'Create alert' : 'Change alert';
  return (
    <FormDialog
      title={alert === null ? 'New alert' : `Change the alert ${alert.name}`} action={action}
      onSubmit={submit} onClose={onClose} error={error}
    >
      {alert === null && <TextField label="Name" name="name" value={draft.name} onInput={set('name')} isRequired />}
      <TextField
        label="Definitions" hint="names or patterns such as nightly-*, with commas" name="definitions"
        value={draft.definitions} onInput={set('definitions')}
      />
      <TextField
        label="Types" hint="names or patterns; without any and without definitions: all runs" name="types"
        value={draft.types} onInput={set('types')}
      />
      <SelectField
        label="When" value={draft.condition} options={alert === null ? conditions.slice(1) : conditions}
        onChange={set('condition')}
      />
      {needsValue(draft) && (
        <TextField
          label={draft.condition === 'failedInARow' ? 'Times' : 'Time'} name="value" isRequired
          hint={draft.condition === 'failedInARow' ? 'such as 3' : 'such as 10m or 1h'} value={draft.value}
          onInput={set('value')}
        />
      )}
      <SelectField label="Target" value={draft.target} options={targets} onChange={set('target')} />
      <TextField
        label="URL" type="password" name="url" value={draft.url} onInput={set('url')} isRequired={alert === null}
        hint={urlHint(alert, draft)}
      />
      <TextField label="At most every" hint="such as 1m" name="every" value={draft.every} onInput={set('every')} />
      <TextField label="Reason (optional)" hint="recorded in the audit" name="why" value={draft.why} onInput={set('why')} />
    </FormDialog>
  );
}

function urlHint(alert: AlertView | null, { target }: Draft): string {
  const form = target === 'smtp' ? 'smtps://user:password@mail.example.com?from=…&to=…; ' : '';
  return form + (alert === null ? 'it is not shown again' : `leave it empty to keep ${alert.to}`);
}

const needsValue = ({ condition }: Draft): boolean => condition !== 'same' && condition !== 'failed';

const draftOf = (alert: AlertView | null): Draft => ({
  name: '', definitions: alert?.definitions.join(', ') ?? '', types: alert?.types.join(', ') ?? '',
  condition: alert === null ? 'failed' : 'same', value: '', target: targets.find(({ value }) => alert?.to.startsWith(value))?.value ?? 'slack',
  url: '', every: alert?.every ?? '1m', why: '',
});

async function save(alert: AlertView | null, draft: Draft): Promise<void> {
  const [definitions, types, every, url, why] = [
    listOf(draft.definitions), listOf(draft.types), draft.every.trim(), draft.url.trim(), draft.why.trim(),
  ];
  const to = draft.target === 'smtp' ? { smtp: url } : draft.target === 'slack' ? { slack: url } : { webhook: url };
  const shared = { ...(every === '' ? {} : { every }), ...(why === '' ? {} : { why }) };
  const when = whenOf(draft);
  if (alert !== null) {
    const body = { ...shared, definitions, types, ...(when === null ? {} : { when }), ...(url === '' ? {} : { to }) };
    await call('editAlert', { params: { name: alert.name }, body });
    return;
  }
  const watched = { ...(definitions.length === 0 ? {} : { definitions }), ...(types.length === 0 ? {} : { types }) };
  await call('createAlert', { body: { name: draft.name.trim(), ...shared, ...watched, when: when ?? 'failed', to } });
}

const listOf = (text: string): string[] => text.split(',').map((part) => part.trim()).filter((part) => part !== '');

function whenOf({ condition, value }: Draft) {
  switch (condition) {
    case 'same': return null;
    case 'failed': return 'failed' as const;
    case 'failedInARow': return { failedInARow: Number(value) };
    case 'late': return { late: value.trim() };
    case 'longerThan': return { longerThan: value.trim() };
  }
}
