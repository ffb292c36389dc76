/** The dialog that creates a definition or overrides settings of one. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import {
  CheckField, JsonField, jsonError, SelectField, TextField, type SelectOption,
} from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Icon } from '../../components/icon.tsx';
import { PriorityField } from '../../components/priority-field.tsx';
import { showToast } from '../../components/toast.tsx';
import { messageOf } from '../../problem.ts';
import { go } from '../../router.ts';
import { useResource } from '../../state/resource.ts';
import { me } from '../../state/session.ts';
import { creationOf, draftOfDefinition, emptyDraft, overrideOf, type DefinitionDraft } from './definition-draft.ts';
import { followTexts, misfireTexts, optionsOf, overlapTexts } from './labels.ts';
import { newDraft, type ScheduleDraft } from './schedule-draft.ts';
import { ScheduleFields, SchedulePreview } from './schedule-fields.tsx';

/** How many definitions are offered as names to follow. */
const suggestedMax = 1000;

interface EditProps {
  /** The definition to override; null: create a new one. */
  readonly def: DefView | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function EditDefinition({ def, onClose, onDone }: EditProps): JSX.Element {
  const [before] = useState(() => (def === null ? emptyDraft : draftOfDefinition(def)));
  const [draft, setDraft] = useState(before);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const set: SetField = (field) => (value) => setDraft((last) => ({ ...last, [field]: value }));
  const isChanged = JSON.stringify({ ...draft, why: '' }) !== JSON.stringify({ ...before, why: '' });
  const isReady = isChanged && !isBusy && jsonError(draft.params) === null;
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await (def === null ? create(draft) : override(def, before, draft));
      onClose();
      onDone();
    } catch (reason) {
      setError(messageOf(reason));
      setBusy(false);
    }
  };
  return (
    <FormDialog
      title={def === null ? 'New definition' : `Edit ${def.name}`} action={def === null ? 'Create definition' : 'Save changes'}
      onSubmit={submit} onClose={onClose} error={error} isReady={isReady} class="wide"
    >
      {def === null
        ? <NameAndType draft={draft} set={set} />
        : <p class="dialog-text">Your changes override the declared settings until you reset them.</p>}
      <Follows own={def?.name ?? null} draft={draft} set={set} />
      {draft.after.trim() === '' && <Schedules drafts={draft.schedules} onChange={set('schedules')} />}
      <Parameters isNew={def === null} draft={draft} set={set} />
      <Policies isNew={def === null} draft={draft} set={set} priorityBefore={before.priority} />
      {def !== null && (
        <TextField
          label="Reason (optional)" hint="recorded in the history" name="why" value={draft.why} onInput={set('why')}
        />
      )}
    </FormDialog>
  );
}

type SetField = <N extends keyof DefinitionDraft>(field: N) => (value: DefinitionDraft[N]) => void;

interface PartProps {
  readonly draft: DefinitionDraft;
  readonly set: SetField;
}

function NameAndType({ draft, set }: PartProps): JSX.Element {
  const types = useResource((abort) => call('listTypes', {}, abort), []);
  return (
    <div class="grid">
      <TextField label="Name" name="name" value={draft.name} onInput={set('name')} isRequired />
      <TextField
        label="Job type" name="type" value={draft.type} onInput={set('type')} isRequired
        suggestions={types.data?.items.map(({ name }) => name) ?? []}
      />
    </div>
  );
}

interface FollowsProps extends PartProps {
  /** The definition that is edited; null: a new one. */
  readonly own: string | null;
}

function Follows({ own, draft, set }: FollowsProps): JSX.Element {
  const defs = useResource((abort) => call('listDefs', { query: { limit: suggestedMax } }, abort), []);
  return (
    <div class="grid">
      <TextField
        label="Follows" hint="names of definitions, instead of schedules" name="after" value={draft.after} onInput={set('after')}
        suggestions={defs.data?.items.map(({ name }) => name).filter((name) => name !== own) ?? []}
      />
      {draft.after.trim() !== '' && (
        <SelectField
          label="Start a run" value={draft.rule} onChange={set('rule')} options={optionsOf(followTexts)}
        />
      )}
    </div>
  );
}

interface SchedulesProps {
  readonly drafts: readonly ScheduleDraft[];
  readonly onChange: (drafts: readonly ScheduleDraft[]) => void;
}

function Schedules({ drafts, onChange }: SchedulesProps): JSX.Element {
  return (
    <>
      {drafts.map((draft, index) => (
        <fieldset class="field-group" key={index}>
          <legend>Schedule {index + 1}</legend>
          <ScheduleFields draft={draft} onChange={(changed) => onChange(drafts.with(index, changed))} />
          <div class="schedule-foot">
            <SchedulePreview draft={draft} />
            <button type="button" class="button" onClick={() => onChange(drafts.filter((_, other) => other !== index))}>
              <Icon name="trash" /> Remove
            </button>
          </div>
        </fieldset>
      ))}
      <button type="button" class="button" onClick={() => onChange([...drafts, newDraft])}>Add schedule</button>
    </>
  );
}

interface SettingsProps extends PartProps {
  readonly isNew: boolean;
}

function Parameters({ isNew, draft, set }: SettingsProps): JSX.Element {
  if (!isNew && me.value?.seesPayloads === false) {
    return <p class="faint">Your role may not see the parameters. They stay unchanged.</p>;
  }
  return (
    <JsonField
      label="Parameters" hint="JSON, the input of each run" rows={4} text={draft.params} onInput={set('params')}
    />
  );
}

interface PoliciesProps extends SettingsProps {
  readonly priorityBefore: string;
}

function Policies({ isNew, draft, set, priorityBefore }: PoliciesProps): JSX.Element {
  const unset = (label: string): readonly SelectOption<''>[] => (isNew ? [{ value: '', label }] : []);
  return (
    <>
      <div class="grid">
        <SelectField
          label="If the previous run has not ended" value={draft.overlap} onChange={set('overlap')}
          options={[...unset('(default: skip)'), ...optionsOf(overlapTexts)]}
        />
        <SelectField
          label="If ticks were missed" value={draft.misfire} onChange={set('misfire')}
          options={[...unset('(default: once)'), ...optionsOf(misfireTexts)]}
        />
        <PriorityField
          value={draft.priority} onInput={set('priority')}
          {...(isNew ? { placeholder: '(default)' } : { before: priorityBefore })}
        />
        <TextField
          label="Concurrent runs" hint="empty for no limit" type="number" name="atMost" value={draft.atMost}
          onInput={set('atMost')}
        />
        <TextField label="Tags" hint="name=value, name=value" name="tags" value={draft.tags} onInput={set('tags')} />
      </div>
      <CheckField label="Allow manual runs" isOn={draft.manualRuns} onChange={set('manualRuns')} />
    </>
  );
}

async function create(draft: DefinitionDraft): Promise<void> {
  const { name } = await call('createDef', { body: creationOf(draft) });
  showToast(`Created definition ${name}`);
  go('/definitions', { name });
}

async function override(def: DefView, before: DefinitionDraft, draft: DefinitionDraft): Promise<void> {
  await call('overrideDef', { params: { name: def.name }, body: overrideOf(def, before, draft) });
  showToast(`Changed definition ${def.name}`);
}
