/** The dialog that finishes a run that was handed off: completes it with a result, or fails it with an error. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { JsonField, jsonError, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { parseExact } from '../../exact-json.ts';
import { messageOf } from '../../problem.ts';

interface FinishRunProps {
  readonly run: RunDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function FinishRun({ run, onClose, onDone }: FinishRunProps): JSX.Element {
  const [isFailing, setFailing] = useState(false);
  const [draft, setDraft] = useState({ result: '', message: '', why: '' });
  const [error, setError] = useState<string | null>(null);
  const set = (name: keyof typeof draft) => (value: string): void => setDraft((old) => ({ ...old, [name]: value }));
  const finish = async (): Promise<void> => {
    const params = { id: run.id };
    const reason = draft.why.trim() === '' ? {} : { why: draft.why.trim() };
    const result = draft.result.trim() === '' ? {} : { result: parseExact(draft.result) };
    try {
      if (isFailing) await call('failRun', { params, body: { error: { message: draft.message }, ...reason } });
      else await call('completeRun', { params, body: { ...result, ...reason } });
      showToast(`${isFailing ? 'Failed' : 'Completed'} run ${run.id}`);
      onDone();
      onClose();
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  const isInvalid = isFailing ? draft.message.trim() === '' : draft.result.trim() !== '' && jsonError(draft.result) !== null;
  return (
    <FormDialog
      title={`Finish run ${run.id}`} action={isFailing ? 'Fail run' : 'Complete run'}
      onSubmit={finish} onClose={onClose} error={error} isReady={!isInvalid} isDanger={isFailing}
    >
      <p>It was handed off: another system has the token to finish it. You can finish it instead.</p>
      <div class="segments" role="group" aria-label="Outcome">
        <button type="button" aria-pressed={!isFailing} onClick={() => setFailing(false)}>Complete</button>
        <button type="button" aria-pressed={isFailing} onClick={() => setFailing(true)}>Fail</button>
      </div>
      {isFailing
        ? <TextField label="Error" hint="what went wrong" name="message" value={draft.message} onInput={set('message')} />
        : <JsonField label="Result" hint="JSON, optional" text={draft.result} onInput={set('result')} />}
      <TextField
        label="Reason (optional)" hint="recorded in the history" name="why" value={draft.why} onInput={set('why')}
      />
    </FormDialog>
  );
}
