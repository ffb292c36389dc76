/** The dialog that creates a named limit, or overrides the values of one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NamedLimitView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { CheckField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';

interface EditProps {
  /** Null: a new limit. */
  readonly limit: NamedLimitView | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The fields as typed. An empty field has the value of the code; `any` means not limited. */
interface Draft {
  /** Of a new limit. */
  readonly name: string;
  readonly isKeyed: boolean;
  readonly rate: string;
  readonly burst: string;
  readonly concurrency: string;
  readonly why: string;
}

export function EditLimit({ limit, onClose, onDone }: EditProps): JSX.Element {
  const code = limit?.code;
  const [draft, setDraft] = useState(() => draftOf(limit));
  const [error, setError] = useState<string | null>(null);
  const set = <F extends keyof Draft>(field: F) => (value: Draft[F]): void => {
    setError(null);
    setDraft((last) => ({ ...last, [field]: value }));
  };
  const submit = async (): Promise<void> => {
    try {
      await save(limit, draft);
      showToast(limit === null ? `Created the limit ${draft.name.trim()}` : `Overrode the limit ${limit.name}`);
      onClose();
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <FormDialog
      title={limit === null ? 'New limit' : `Override the limit ${limit.name}`} action={limit === null ? 'Create limit' : 'Override limit'}
      onSubmit={submit} onClose={onClose} error={error}
    >
      <p class="dialog-text">
        {limit === null
          ? 'Jobs of types that list the limit by its name start only within its values, on all instances.'
          : 'The values apply on all instances until you reset them, also after a deploy. Leave a field empty for the value in the code; write “any” for no limit.'}
      </p>
      {limit === null && (
        <>
          <TextField label="Name" name="name" value={draft.name} onInput={set('name')} isRequired />
          <CheckField label="Each key has these values for itself" isOn={draft.isKeyed} onChange={set('isKeyed')} />
        </>
      )}
      <TextField
        label="Rate" hint="such as 500/1m or 10/s" name="rate" value={draft.rate} onInput={set('rate')}
        placeholder={code?.rate ?? 'any'}
      />
      <TextField
        label="At once" hint="after a quiet time; default: a tenth of the rate" name="burst" value={draft.burst}
        onInput={set('burst')}
      />
      <TextField
        label="Concurrency" hint="jobs that run at a time" name="concurrency" value={draft.concurrency}
        onInput={set('concurrency')} placeholder={String(code?.concurrency ?? 'any')}
      />
      <TextField
        label="Reason (optional)" hint="recorded in the audit" name="why" value={draft.why} onInput={set('why')}
      />
    </FormDialog>
  );
}

async function save(limit: NamedLimitView | null, draft: Draft): Promise<void> {
  const body = overrideOf(draft);
  if (limit !== null) await call('overrideLimit', { params: { name: limit.name }, body });
  else await call('createLimit', { body: { name: draft.name.trim(), isKeyed: draft.isKeyed, ...body } });
}

const draftOf = (limit: NamedLimitView | null): Draft => ({
  name: '', isKeyed: false, rate: textOf(limit?.override?.rate),
  burst: limit?.override?.rate == null ? '' : String(limit.override.burst ?? ''),
  concurrency: textOf(limit?.override?.concurrency), why: '',
});

const textOf = (value: string | number | null | undefined): string =>
  value === undefined ? '' : value === null ? 'any' : String(value);

function overrideOf(draft: Draft) {
  const { rate, burst, concurrency, why } = trimmed(draft);
  return {
    ...(rate === '' ? {} : { rate: rate === 'any' ? null : rate }),
    ...(burst === '' ? {} : { burst: Number(burst) }),
    ...(concurrency === '' ? {} : { concurrency: concurrency === 'any' ? null : Number(concurrency) }),
    ...(why === '' ? {} : { why }),
  };
}

const trimmed = ({ rate, burst, concurrency, why }: Draft): Omit<Draft, 'name' | 'isKeyed'> =>
  ({ rate: rate.trim(), burst: burst.trim(), concurrency: concurrency.trim(), why: why.trim() });
