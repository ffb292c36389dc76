/** The dialog that overrides the values of a named limit. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { NamedLimitView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';

interface EditProps {
  readonly limit: NamedLimitView;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The fields as typed. An empty field has the value of the code; `any` means not limited. */
interface Draft {
  readonly rate: string;
  readonly burst: string;
  readonly concurrency: string;
  readonly why: string;
}

export function EditLimit({ limit, onClose, onDone }: EditProps): JSX.Element {
  const { name, code } = limit;
  const [draft, setDraft] = useState(() => draftOf(limit));
  const [error, setError] = useState<string | null>(null);
  const set = (field: keyof Draft) => (value: string): void => {
    setError(null);
    setDraft((last) => ({ ...last, [field]: value }));
  };
  const submit = async (): Promise<void> => {
    try {
      await call('overrideLimit', { params: { name }, body: overrideOf(draft) });
      showToast(`Overrode the limit ${name}`);
      onClose();
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
    }
  };
  return (
    <Dialog title={`Override the limit ${name}`} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p class="dialog-text">
          The values apply on all instances until you reset them, also after a deploy. Leave a field empty for the value in
          the code; write “any” for no limit.
        </p>
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
        {error !== null && <strong class="field-error" role="alert">{error}</strong>}
        <footer>
          <button type="button" class="button" onClick={onClose}>Close</button>
          <button type="submit" class="button" data-kind="primary">Override limit</button>
        </footer>
      </form>
    </Dialog>
  );
}

const draftOf = ({ override }: NamedLimitView): Draft => ({
  rate: textOf(override?.rate), burst: override?.rate == null ? '' : String(override.burst ?? ''),
  concurrency: textOf(override?.concurrency), why: '',
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

const trimmed = ({ rate, burst, concurrency, why }: Draft): Draft =>
  ({ rate: rate.trim(), burst: burst.trim(), concurrency: concurrency.trim(), why: why.trim() });
