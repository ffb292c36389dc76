/** Making a definition, or laying an operator's word over the code's: only what was changed is said. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DefView, Saying } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { Dialog } from '../../components/dialog.tsx';
import { JsonField, jsonError, SelectField, TextField, TickField } from '../../components/field.tsx';
import { Icon } from '../../components/icon.tsx';
import { tagsOf } from '../../components/start-run.tsx';
import { say } from '../../components/toast.tsx';
import { exactText } from '../../exact-json.ts';
import { sentenceOf } from '../../problem.ts';
import { go } from '../../router.ts';
import { useAnswer } from '../../state/answer.ts';
import { me } from '../../state/session.ts';
import { askOf, draftOf, newDraft, type ScheduleDraft } from './schedule-draft.ts';
import { ScheduleFields, ScheduleVerdict } from './schedule-fields.tsx';
import { misfireWords, optionsOf, overlapWords } from './words.ts';

interface EditProps {
  /** Null: a new one. */
  readonly def: DefView | null;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Draft {
  readonly name: string;
  readonly type: string;
  readonly schedules: readonly ScheduleDraft[];
  readonly params: string;
  readonly overlap: keyof typeof overlapWords;
  readonly misfire: keyof typeof misfireWords;
  readonly priority: string;
  readonly atMost: string;
  readonly manualRuns: boolean;
  readonly onePerType: boolean;
  readonly tags: string;
  readonly why: string;
}

export function EditDefinition({ def, onClose, onDone }: EditProps): JSX.Element {
  const [first] = useState(() => draftOfDef(def));
  const [draft, setDraft] = useState(first);
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const types = useAnswer((abort) => call('listTypes', {}, abort), []);
  const put = <N extends keyof Draft>(field: N) => (value: Draft[N]): void =>
    setDraft((before) => ({ ...before, [field]: value }));
  const isChanged = JSON.stringify({ ...draft, why: '' }) !== JSON.stringify({ ...first, why: '' });
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await (def === null ? create(draft) : change(def, first, draft));
      onClose();
      onDone();
    } catch (reason) {
      setError(sentenceOf(reason));
      setBusy(false);
    }
  };
  const isReady = isChanged && !isBusy && jsonError(draft.params) === null;
  return (
    <Dialog title={def === null ? 'New definition' : `Edit ${def.name}`} onClose={onClose} class="wide">
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void submit();
        }}
      >
        {def === null
          ? (
            <div class="grid">
              <TextField label="Name" name="name" value={draft.name} onInput={put('name')} isRequired />
              <TextField
                label="Job type" name="type" value={draft.type} onInput={put('type')} isRequired
                suggestions={types.data?.items.map(({ name }) => name) ?? []}
              />
            </div>
          )
          : <p class="dialog-text">What you change counts more than the code, until it is reset.</p>}
        <Schedules drafts={draft.schedules} onChange={put('schedules')} />
        {me.value?.seesPayloads === false && def !== null
          ? <p class="faint">Its parameters are not shown to your role, and stay as they are.</p>
          : (
            <JsonField
              label="Parameters" hint="JSON, the input of its runs" rows={4} text={draft.params} onInput={put('params')}
            />
          )}
        <div class="grid">
          <SelectField
            label="While a run is under way" value={draft.overlap} options={optionsOf(overlapWords)}
            onChange={put('overlap')}
          />
          <SelectField
            label="After an outage" value={draft.misfire} options={optionsOf(misfireWords)} onChange={put('misfire')}
          />
          <TextField
            label="Priority" hint="higher goes first" type="number" name="priority" value={draft.priority}
            onInput={put('priority')}
          />
          <TextField
            label="Runs at a time" hint="empty: no limit" type="number" name="atMost" value={draft.atMost}
            onInput={put('atMost')}
          />
          <TextField label="Tags" hint="name=value, name=value" name="tags" value={draft.tags} onInput={put('tags')} />
        </div>
        <TickField label="It may be run by hand" isOn={draft.manualRuns} onChange={put('manualRuns')} />
        <TickField label="Only one run of its type at a time" isOn={draft.onePerType} onChange={put('onePerType')} />
        {def !== null && (
          <TextField
            label="Reason" hint="kept with the history" name="why" value={draft.why} onInput={put('why')}
            placeholder="Why is this changed?"
          />
        )}
        {error !== null && <strong class="field-error" role="alert">{error}</strong>}
        <footer>
          <button type="button" class="button" onClick={onClose}>Do nothing</button>
          <button type="submit" class="button" data-kind="primary" disabled={!isReady}>
            {def === null ? 'Create' : 'Save'}
          </button>
        </footer>
      </form>
    </Dialog>
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
            <ScheduleVerdict draft={draft} />
            <button type="button" class="button" onClick={() => onChange(drafts.filter((_, place) => place !== index))}>
              <Icon name="trash" /> Take away
            </button>
          </div>
        </fieldset>
      ))}
      <button type="button" class="button" onClick={() => onChange([...drafts, newDraft])}>Add a schedule</button>
    </>
  );
}

function draftOfDef(def: DefView | null): Draft {
  const spec = def?.spec;
  const { params } = spec ?? {};
  return {
    name: '',
    type: def?.type ?? '',
    schedules: def?.schedules.map(({ schedule }) => draftOf(schedule)) ?? [newDraft],
    params: params === undefined || params === null ? '' : exactText(params),
    overlap: spec?.overlap ?? 'skip',
    misfire: spec?.misfire.policy ?? 'once',
    priority: String(spec?.priority ?? 0),
    atMost: String(spec?.gate?.defMax ?? ''),
    manualRuns: spec?.manualRuns ?? true,
    onePerType: spec?.onePerType ?? false,
    tags: Object.entries(spec?.tags ?? {}).map(([name, value]) => `${name}=${value}`).join(', '),
    why: '',
  };
}

const paramsOf = ({ params }: Draft): unknown => (params.trim() === '' ? null : (JSON.parse(params) as unknown));

async function create(draft: Draft): Promise<void> {
  const { name, type, schedules, overlap, misfire, priority, atMost, manualRuns, onePerType, tags } = draft;
  const body = {
    name: name.trim(),
    type: type.trim(),
    schedules: schedules.map(askOf),
    overlap,
    misfire,
    manualRuns,
    onePerType,
    priority: Number(priority),
    ...(draft.params.trim() === '' ? {} : { params: paramsOf(draft) }),
    ...(atMost.trim() === '' ? {} : { concurrency: Number(atMost) }),
    ...(tags.trim() === '' ? {} : { tags: tagsOf(tags) }),
  };
  const made = await call('createDef', { body });
  say(`${made.name} is created`);
  go('/definitions', { name: made.name });
}

async function change(def: DefView, first: Draft, draft: Draft): Promise<void> {
  const isOther = (field: keyof Draft): boolean => JSON.stringify(draft[field]) !== JSON.stringify(first[field]);
  const { typeMax } = def.spec.gate ?? {};
  const gate = {
    ...(typeMax === undefined ? {} : { typeMax }),
    ...(draft.atMost.trim() === '' ? {} : { defMax: Number(draft.atMost) }),
  };
  const { cap, windowMs, graceMs } = def.spec.misfire as DefView['spec']['misfire'] & { readonly graceMs?: number };
  const grace = graceMs === undefined ? {} : { graceMs };
  const body: Saying<'overrideDef'>['body'] = {
    ...(isOther('schedules') ? { schedules: draft.schedules.map(askOf) } : {}),
    ...(isOther('params') ? { params: paramsOf(draft) } : {}),
    ...(isOther('overlap') ? { overlap: draft.overlap } : {}),
    ...(isOther('misfire') ? { misfire: { policy: draft.misfire, cap, windowMs, ...grace } } : {}),
    ...(isOther('priority') ? { priority: Number(draft.priority) } : {}),
    ...(isOther('manualRuns') ? { manualRuns: draft.manualRuns } : {}),
    ...(isOther('onePerType') ? { onePerType: draft.onePerType } : {}),
    ...(isOther('atMost') ? { gate: Object.keys(gate).length === 0 ? null : gate } : {}),
    ...(isOther('tags') ? { tags: draft.tags.trim() === '' ? null : tagsOf(draft.tags) } : {}),
    ...(draft.why.trim() === '' ? {} : { why: draft.why.trim() }),
  };
  await call('overrideDef', { params: { name: def.name }, body });
  say(`${def.name} is changed`);
}
