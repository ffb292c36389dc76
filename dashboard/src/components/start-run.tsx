/** Starting a run: of a type or a definition, from nothing or like one that was. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Saying } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { exactText } from '../exact-json.ts';
import { sentenceOf } from '../problem.ts';
import { go } from '../router.ts';
import { useAnswer } from '../state/answer.ts';
import { Dialog } from './dialog.tsx';
import { jsonError, TextField } from './field.tsx';
import { InputField } from './input-field.tsx';
import { say } from './toast.tsx';

/** What the form begins with. */
export interface Model {
  /** Beside a definition: the type it is of. */
  readonly type?: string;
  readonly def?: string;
  readonly input?: unknown;
  readonly priority?: number;
  readonly tags?: Readonly<Record<string, string>>;
}

const model = signal<Model | null>(null);

/** Opens the form; a definition runs with its own parameters where no input is said. */
export const startRun = (like: Model = {}): void => void (model.value = like);

/** Stands once in the shell. */
export function StartRun(): JSX.Element | null {
  return model.value && <StartDialog like={model.value} onClose={() => (model.value = null)} />;
}

interface Draft {
  readonly type: string;
  readonly input: string;
  readonly delay: string;
  readonly priority: string;
  readonly tags: string;
  readonly unique: string;
}

function StartDialog({ like, onClose }: { readonly like: Model; readonly onClose: () => void }): JSX.Element {
  const [draft, setDraft] = useState<Draft>(() => draftOf(like));
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const types = useAnswer((abort) => call('listTypes', {}, abort), []);
  const type = types.data?.items.find(({ name }) => name === (like.type ?? draft.type.trim()))?.name;
  const schema = useAnswer(
    async (abort) => (type === undefined ? null : (await call('getType', { params: { name: type } }, abort)).schema),
    [type],
  ).data;
  const put = (name: keyof Draft) => (value: string): void => {
    setError(null);
    setDraft((before) => ({ ...before, [name]: value }));
  };
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      const { id, outcome, warning } = await call('createRun', { body: askOf(draft, like.def) });
      onClose();
      say(warning ?? (outcome === 'created' ? `Run ${id} is created` : `Run ${id} was there already`));
      go(`/runs/${id}`);
    } catch (reason) {
      setError(sentenceOf(reason));
      setBusy(false);
    }
  };
  const isReady = (like.def !== undefined || draft.type.trim() !== '') && jsonError(draft.input) === null && !isBusy;
  return (
    <Dialog title={like.def === undefined ? 'Start a run' : `Run ${like.def}`} onClose={onClose} class="wide">
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void submit();
        }}
      >
        {like.def === undefined && (
          <TextField
            label="Job type" name="type" value={draft.type} onInput={put('type')} isRequired
            suggestions={types.data?.items.map(({ name }) => name) ?? []}
          />
        )}
        <InputField
          schema={schema} text={draft.input} onInput={put('input')}
          hint={like.def === undefined ? 'JSON; empty: none' : "JSON; empty: the definition's own"}
        />
        <div class="grid">
          <TextField
            label="Begins after" hint="30s, 2h; empty: at once" name="delay" value={draft.delay}
            onInput={put('delay')}
          />
          <TextField
            label="Priority" hint="higher goes first" name="priority" type="number" value={draft.priority}
            onInput={put('priority')}
          />
          <TextField label="Tags" hint="name=value, name=value" name="tags" value={draft.tags} onInput={put('tags')} />
          <TextField
            label="Unique key" hint="one open run for each" name="unique" value={draft.unique} onInput={put('unique')}
          />
        </div>
        {error !== null && <strong class="field-error" role="alert">{error}</strong>}
        <footer>
          <button type="button" class="button" onClick={onClose}>Do nothing</button>
          <button type="submit" class="button" data-kind="primary" disabled={!isReady}>Start</button>
        </footer>
      </form>
    </Dialog>
  );
}

const draftOf = ({ type = '', input, priority, tags = {} }: Model): Draft => ({
  type,
  input: input === undefined || input === null ? '' : exactText(input),
  delay: '',
  priority: priority === undefined || priority === 0 ? '' : String(priority),
  tags: Object.entries(tags).map(([name, value]) => `${name}=${value}`).join(', '),
  unique: '',
});

type Ask = Saying<'createRun'>['body'];

function askOf({ type, input, delay, priority, tags, unique }: Draft, def: string | undefined): Ask {
  return {
    ...(def === undefined ? { type: type.trim() } : { def }),
    ...(input.trim() === '' ? {} : { input: JSON.parse(input) as unknown }),
    ...(delay.trim() === '' ? {} : { delay: delay.trim() }),
    ...(priority.trim() === '' ? {} : { priority: Number(priority) }),
    ...(tags.trim() === '' ? {} : { tags: tagsOf(tags) }),
    ...(unique.trim() === '' ? {} : { unique: unique.trim() }),
  };
}

export function tagsOf(text: string): Record<string, string> {
  const pairs = text.split(',').map((pair) => pair.trim()).filter(Boolean);
  return Object.fromEntries(pairs.map((pair): [string, string] => {
    const [name = '', ...value] = pair.split('=');
    return [name.trim(), value.join('=').trim()];
  }));
}
