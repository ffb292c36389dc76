/** The dialog that gives a definition another name, or creates another one with its settings. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { CheckField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';
import { go } from '../../router.ts';

interface RenameProps {
  readonly def: DefView;
  /** Whether the old definition stays. */
  readonly isClone: boolean;
  readonly onClose: () => void;
}

export function RenameDefinition({ def, isClone, onClose }: RenameProps): JSX.Element {
  const [name, setName] = useState(isClone ? `${def.name} copy` : def.name);
  const [enabled, setEnabled] = useState(def.enabled);
  const [why, setWhy] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = async (): Promise<void> => {
    const params = { name: def.name };
    const body = { name, ...(why.trim() === '' ? {} : { why: why.trim() }) };
    try {
      if (isClone) await call('cloneDef', { params, body: { ...body, enabled } });
      else await call('renameDef', { params, body });
      showToast(isClone ? `Created definition ${name}` : `Renamed ${def.name} to ${name}`);
      onClose();
      go('/definitions', { name });
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <FormDialog
      title={isClone ? `Clone ${def.name}` : `Rename ${def.name}`} action={isClone ? 'Create clone' : 'Rename'}
      onSubmit={submit} onClose={onClose} error={error}
    >
      <p class="dialog-text">
        {isClone
          ? 'The clone has the settings in effect. Later changes of one of them do not change the other.'
          : 'Its schedules continue under the new name. Its runs keep the old one.'}
      </p>
      <TextField
        label="New name" name="name" value={name} isRequired
        onInput={(value) => {
          setError(null);
          setName(value);
        }}
      />
      {isClone && <CheckField label="Enabled" isOn={enabled} onChange={setEnabled} />}
      <TextField label="Reason (optional)" hint="recorded in the history" name="why" value={why} onInput={setWhy} />
    </FormDialog>
  );
}
