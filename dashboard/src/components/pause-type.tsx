/** The dialog that pauses a job type, or one key of it, with a reason and an end. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RequestArguments } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { messageOf } from '../problem.ts';
import { targetText } from '../state/pauses.ts';
import { timeMode } from '../state/preferences.ts';
import { useResource } from '../state/resource.ts';
import { SelectField, TextField, type SelectOption } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';
import { showToast } from './toast.tsx';

interface OpenPause {
  readonly type: string;
  readonly onDone: () => void;
}

const openPause = signal<OpenPause | null>(null);

/** Opens the dialog; `onDone` is called after the type or the key has been paused. */
export const pauseType = (type: string, onDone: () => void): void => void (openPause.value = { type, onDone });

/** The dialog, if it is open. The shell renders it once for all pages. */
export function PauseType(): JSX.Element | null {
  return openPause.value && <PauseDialog {...openPause.value} onClose={() => (openPause.value = null)} />;
}

const ends = [
  { value: 'none', label: 'when you resume it' },
  { value: '1h', label: 'after 1 hour' },
  { value: '2h', label: 'after 2 hours' },
  { value: 'time', label: 'at a time' },
] as const satisfies readonly SelectOption<string>[];

interface Draft {
  readonly why: string;
  readonly end: (typeof ends)[number]['value'];
  /** The end as typed, in the time zone of the display; only if `end` is `time`. */
  readonly time: string;
  /** Empty: the whole type. */
  readonly key: string;
}

function PauseDialog({ type, onDone, onClose }: OpenPause & { readonly onClose: () => void }): JSX.Element {
  const { draft, set, error, submit } = usePauseDraft(type, () => {
    onClose();
    onDone();
  });
  const settings = useResource((abort) => call('getType', { params: { name: type } }, abort), [type]).data;
  const hasKeys = settings !== null && settings.keyConcurrency !== null;
  return (
    <FormDialog
      title={`Pause ${type}`} action={draft.key === '' ? 'Pause type' : 'Pause key'}
      onSubmit={submit} onClose={onClose} error={error}
    >
      <p class="dialog-text">
        No instance starts its jobs until the pause ends; new runs wait. Jobs that are running continue. If it is paused
        already, the reason and the end are replaced.
      </p>
      <TextField
        label="Reason" hint="shown to everybody whose run waits" name="why" value={draft.why} onInput={set('why')}
        isRequired
      />
      <SelectField label="The pause ends" value={draft.end} options={ends} onChange={set('end')} />
      {draft.end === 'time' && (
        <TextField
          label="End" hint={isUtc() ? 'UTC' : 'your local time'} name="time" type="datetime-local" value={draft.time}
          onInput={set('time')} isRequired
        />
      )}
      {hasKeys && (
        <TextField
          label="Key (optional)" hint="pauses only runs with this key" name="key" value={draft.key} onInput={set('key')}
        />
      )}
    </FormDialog>
  );
}

interface PauseDraft {
  readonly draft: Draft;
  readonly set: <F extends keyof Draft>(field: F) => (value: Draft[F]) => void;
  readonly error: string | null;
  readonly submit: () => Promise<void>;
}

function usePauseDraft(type: string, onDone: () => void): PauseDraft {
  const [draft, setDraft] = useState<Draft>({ why: '', end: 'none', time: '', key: '' });
  const [error, setError] = useState<string | null>(null);
  const set: PauseDraft['set'] = (field) => (value) => {
    setError(null);
    setDraft((before) => ({ ...before, [field]: value }));
  };
  const submit = async (): Promise<void> => {
    try {
      const { key } = await call('pauseType', { params: { name: type }, body: bodyOf(draft) });
      showToast(`Paused ${targetText(type, key)}`);
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return { draft, set, error, submit };
}

function bodyOf({ why, end, time, key }: Draft): RequestArguments<'pauseType'>['body'] {
  return {
    why: why.trim(),
    ...(end === 'none' ? {} : { until: end === 'time' ? Date.parse(isUtc() ? `${time}Z` : time) : end }),
    ...(key === '' ? {} : { key }),
  };
}

const isUtc = (): boolean => timeMode.value === 'UTC';
