/** Definitions as a document: exports those that match, and applies a document after its plan was shown. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Answer, RequestArguments } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { CheckField, JsonField, jsonError, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { showToast, withToast } from '../../components/toast.tsx';
import { download } from '../../download.ts';
import { exactText } from '../../exact-json.ts';
import { number, plural } from '../../format.ts';
import { messageOf } from '../../problem.ts';
import type { DefListFilter } from './filters.tsx';

type Plan = Answer<'applyDefs'>;
type Planned = Plan['definitions'][number];
type Document = Pick<RequestArguments<'applyDefs'>['body'], 'definitions' | 'overrides'>;

/** Downloads the matching definitions as a document that can be applied here or by `stint defs apply`. */
export async function exportDefinitions(filter: DefListFilter): Promise<void> {
  await withToast(async () => {
    const document = await call('exportDefs', { query: filter });
    download('definitions.json', `${exactText(document)}\n`, 'application/json');
    return document.definitions.length + document.overrides.length;
  }, (count) => `Exported ${plural(count, 'definition')}`);
}

interface ApplyProps {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ApplyDocument({ onClose, onDone }: ApplyProps): JSX.Element {
  const [text, setText] = useState('');
  const [prunes, setPrunes] = useState(false);
  const [match, setMatch] = useState('');
  const [why, setWhy] = useState('');
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<string | null>(null);
  /** What is planned is no longer what is typed. */
  const edited = <T,>(set: (value: T) => void) => (value: T): void => {
    setPlan(null);
    setError(null);
    set(value);
  };
  const body = () => ({
    ...(JSON.parse(text) as Document),
    ...(prunes ? { prune: true, ...(match.trim() === '' ? {} : { match: match.trim() }) } : {}),
  });
  const changes = plan?.definitions.filter(({ action }) => action !== 'unchanged') ?? [];
  const isReady = text.trim() !== '' && jsonError(text) === null && (plan === null || changes.length > 0);
  const submit = async (): Promise<void> => {
    try {
      if (plan === null) return setPlan(await call('applyDefs', { body: { ...body(), dryRun: true } }));
      const reason = why.trim() === '' ? {} : { why: why.trim() };
      await call('applyDefs', { body: { ...body(), digest: plan.digest, ...reason } });
      showToast(`Changed ${plural(changes.length, 'definition')}`);
      onClose();
      onDone();
    } catch (reason) {
      setPlan(null);
      setError(messageOf(reason));
    }
  };
  return (
    <FormDialog
      title="Apply a document" action={changes.length === 0 ? 'Show plan' : `Apply ${plural(changes.length, 'change')}`}
      onSubmit={submit} onClose={onClose} error={error} isReady={isReady} class="wide"
    >
      <p class="dialog-text">
        Creates and changes definitions as the document says, all or none. You see what changes before you apply it.
      </p>
      <FileField onText={edited(setText)} />
      <JsonField
        label="Document" hint="JSON, as exported here or by stint defs export --format json" text={text} onInput={edited(setText)}
      />
      <CheckField
        label="Delete definitions, and remove overrides, that the document does not have" isOn={prunes} onChange={edited(setPrunes)}
      />
      {prunes && (
        <TextField
          label="Only names that match" hint="a pattern such as mail*; empty: all" name="match" value={match} onInput={edited(setMatch)}
        />
      )}
      {plan !== null && <PlanList plan={plan} changes={changes} />}
      {changes.length > 0 && (
        <TextField label="Reason (optional)" hint="recorded in the audit" name="why" value={why} onInput={setWhy} />
      )}
    </FormDialog>
  );
}

const FileField = ({ onText }: { readonly onText: (text: string) => void }): JSX.Element => (
  <label class="field">
    <span>File</span>
    <input
      type="file" accept=".json,application/json"
      onChange={({ currentTarget: { files } }) => void files?.[0]?.text().then(onText)}
    />
  </label>
);

interface PlanListProps {
  readonly plan: Plan;
  readonly changes: readonly Planned[];
}

function PlanList({ plan, changes }: PlanListProps): JSX.Element {
  const unchanged = plan.definitions.length - changes.length;
  return (
    <section aria-label="Plan">
      {changes.length === 0 && <p>Nothing changes: all definitions are as the document says.</p>}
      <ul class="lines">
        {changes.map((planned) => <PlannedChange key={`${planned.list} ${planned.name}`} {...planned} />)}
      </ul>
      {changes.length > 0 && unchanged > 0 && <p class="faint">{number(unchanged)} unchanged</p>}
    </section>
  );
}

const PlannedChange = ({ name, action, list, fields }: Planned): JSX.Element => (
  <li>
    <b>{list === 'overrides' ? `${action} override of` : action} {name}</b>
    {action === 'change' && (
      <ul>{fields.map(({ field, before, after }) => (
        <li key={field}><code>{field}: {shown(before)} → {shown(after)}</code></li>
      ))}</ul>
    )}
  </li>
);

const shown = (value: unknown): string => (value === undefined ? 'none' : exactText(value, 0));
