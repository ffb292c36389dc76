/** The dialog that starts a run of a type or a definition, empty or prefilled from another run. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RequestArguments } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { exactText } from '../exact-json.ts';
import { messageOf } from '../problem.ts';
import { go } from '../router.ts';
import { useResource } from '../state/resource.ts';
import { CheckField, jsonError, TextField } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';
import { InputField } from './input-field.tsx';
import { PriorityField } from './priority-field.tsx';
import { showToast } from './toast.tsx';

/** The values with which the form is prefilled. */
export interface RunTemplate {
  /** The job type. If `def` is set, the type of that definition. */
  readonly type?: string;
  readonly def?: string;
  readonly input?: unknown;
  readonly priority?: number;
  readonly tags?: Readonly<Record<string, string>>;
}

const openTemplate = signal<RunTemplate | null>(null);

/** Opens the dialog. A definition runs with its own parameters if the input is left empty. */
export const startRun = (template: RunTemplate = {}): void => void (openTemplate.value = template);

/** The dialog, if it is open. The shell renders it once for all pages. */
export function StartRun(): JSX.Element | null {
  const template = openTemplate.value;
  return template && <StartDialog template={template} onClose={() => (openTemplate.value = null)} />;
}

interface RunDraft {
  readonly type: string;
  readonly input: string;
  readonly delay: string;
  readonly priority: string;
  readonly tags: string;
  readonly unique: string;
  readonly isAlone: boolean;
}

type TextName = Exclude<keyof RunDraft, 'isAlone'>;

interface StartDialogProps {
  readonly template: RunTemplate;
  readonly onClose: () => void;
}

function StartDialog({ template, onClose }: StartDialogProps): JSX.Element {
  const { draft, set, error, submit, isReady, typeNames, schema, followers, setAlone } = useRunDraft(template, onClose);
  const isOfType = template.def === undefined;
  return (
    <FormDialog
      title={isOfType ? 'Start a run' : `Run ${template.def}`} action="Start run"
      onSubmit={submit} onClose={onClose} error={error} isReady={isReady} class="wide"
    >
      {isOfType && (
        <TextField
          label="Job type" name="type" value={draft.type} onInput={set('type')} isRequired suggestions={typeNames}
        />
      )}
      <InputField
        schema={schema} text={draft.input} onInput={set('input')}
        hint={isOfType ? 'JSON; empty for none' : "JSON; empty for the definition's parameters"}
      />
      <div class="grid">
        <TextField
          label="Delay" hint="30s, 2h; empty to start now" name="delay" value={draft.delay} onInput={set('delay')}
        />
        <PriorityField value={draft.priority} onInput={set('priority')} />
        <TextField label="Tags" hint="name=value, name=value" name="tags" value={draft.tags} onInput={set('tags')} />
        <TextField
          label="Unique key" hint="at most one open run per key" name="unique" value={draft.unique}
          onInput={set('unique')}
        />
      </div>
      {followers.length > 0 && (
        <CheckField
          label={<>Also run what follows it: {followers.join(', ')}</>} isOn={!draft.isAlone}
          onChange={(isOn) => setAlone(!isOn)}
        />
      )}
    </FormDialog>
  );
}

interface RunDraftState {
  readonly draft: RunDraft;
  readonly set: (name: TextName) => (value: string) => void;
  /** The definitions that follow the definition. */
  readonly followers: readonly string[];
  readonly setAlone: (isAlone: boolean) => void;
  readonly error: string | null;
  readonly submit: () => Promise<void>;
  readonly isReady: boolean;
  readonly typeNames: readonly string[];
  readonly schema: Readonly<Record<string, unknown>> | null;
}

function useRunDraft(template: RunTemplate, onClose: () => void): RunDraftState {
  const [draft, setDraft] = useState<RunDraft>(() => draftOf(template));
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const types = useResource((abort) => call('listTypes', {}, abort), []);
  const typeNames = types.data?.items.map(({ name }) => name) ?? [];
  const type = typeNames.find((name) => name === (template.type ?? draft.type.trim()));
  const schema = useResource(
    async (abort) => (type === undefined ? null : (await call('getType', { params: { name: type } }, abort)).schema),
    [type],
  ).data;
  const { def } = template;
  const followers = useResource(
    async (abort) => (def === undefined ? [] : (await call('getDef', { params: { name: def } }, abort)).followers),
    [def],
  ).data ?? [];
  const set = (name: TextName) => (value: string): void => {
    setError(null);
    setDraft((before) => ({ ...before, [name]: value }));
  };
  const setAlone = (isAlone: boolean): void => setDraft((before) => ({ ...before, isAlone }));
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const { id, outcome, warning } = await call('createRun', { body: bodyOf(draft, template.def) });
      onClose();
      showToast(warning ?? (outcome === 'created' ? `Created run ${id}` : `Run ${id} already has this unique key`));
      go(`/runs/${id}`);
    } catch (reason) {
      setError(messageOf(reason));
      setBusy(false);
    }
  };
  const hasTarget = template.def !== undefined || draft.type.trim() !== '';
  const isReady = hasTarget && jsonError(draft.input) === null && !isBusy;
  return { draft, set, error, submit, isReady, typeNames, schema, followers, setAlone };
}

const draftOf = ({ type = '', input, priority, tags = {} }: RunTemplate): RunDraft => ({
  type,
  input: input === undefined || input === null ? '' : exactText(input),
  delay: '',
  priority: priority === undefined || priority === 0 ? '' : String(priority),
  tags: Object.entries(tags).map(([name, value]) => `${name}=${value}`).join(', '),
  unique: '',
  isAlone: false,
});

type CreateRunBody = RequestArguments<'createRun'>['body'];

function bodyOf({ type, input, delay, priority, tags, unique, isAlone }: RunDraft, def: string | undefined): CreateRunBody {
  return {
    ...(def === undefined ? { type: type.trim() } : { def }),
    ...(input.trim() === '' ? {} : { input: JSON.parse(input) as unknown }),
    ...(delay.trim() === '' ? {} : { delay: delay.trim() }),
    ...(priority.trim() === '' ? {} : { priority: Number(priority) }),
    ...(tags.trim() === '' ? {} : { tags: tagsOf(tags) }),
    ...(unique.trim() === '' ? {} : { unique: unique.trim() }),
    ...(isAlone ? { followers: false } : {}),
  };
}

/** Parses tags in the form `name=value, name=value`. */
export function tagsOf(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim()).filter(Boolean);
  return Object.fromEntries(pairs.map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  }));
}
