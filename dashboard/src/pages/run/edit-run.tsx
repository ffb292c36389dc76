/** The dialog that edits an open run: priority, due time and tags. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { PriorityField } from '../../components/priority-field.tsx';
import { tagsOf } from '../../components/start-run.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';

interface EditRunProps {
  readonly run: RunDetail;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EditRun({ run, onClose, onDone }: EditRunProps): JSX.Element {
  const before = {
    priority: String(run.priority),
    due: new Date(run.dueAt).toISOString(),
    tags: Object.entries(run.tags).map(([name, value]) => `${name}=${value}`).join(', '),
  };
  const [draft, setDraft] = useState({ ...before, why: '' });
  const [error, setError] = useState<string | null>(null);
  const set = (name: keyof typeof draft) => (value: string): void => setDraft((old) => ({ ...old, [name]: value }));
  const save = async (): Promise<void> => {
    const body = {
      ...(draft.priority === before.priority ? {} : { priority: Number(draft.priority) }),
      ...(draft.due === before.due ? {} : { dueTime: draft.due }),
      ...(draft.tags === before.tags ? {} : { tags: tagsOf(draft.tags) }),
      ...(draft.why.trim() === '' ? {} : { why: draft.why.trim() }),
    };
    try {
      await call('editRun', { params: { id: run.id }, body });
      showToast(`Changed run ${run.id}`);
      onDone();
      onClose();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <FormDialog
      title={`Edit run ${run.id}`} action="Save changes"
      onSubmit={save} onClose={onClose} error={error}
    >
      <PriorityField value={draft.priority} onInput={set('priority')} before={before.priority} />
      <TextField label="Due" hint="ISO 8601 with a time zone" name="due" value={draft.due} onInput={set('due')} />
      <TextField label="Tags" hint="name=value, name=value" name="tags" value={draft.tags} onInput={set('tags')} />
      <TextField
        label="Reason (optional)" hint="recorded in the history" name="why" value={draft.why} onInput={set('why')}
      />
    </FormDialog>
  );
}
