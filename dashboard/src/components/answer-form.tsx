/** The form that answers a question of a run: fields for its schema, or JSON if it has none. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactText } from '../exact-json.ts';
import { messageOf } from '../problem.ts';
import { JsonField, jsonError } from './field.tsx';
import { hasForm, SchemaForm, type JsonSchema } from './schema-form.tsx';

interface AnswerFormProps {
  readonly schema: JsonSchema | null;
  /** Sends the answer. The form shows the error if it is refused. */
  readonly onAnswer: (value: unknown) => Promise<void>;
  readonly isDisabled?: boolean;
}

export function AnswerForm({ schema, onAnswer, isDisabled = false }: AnswerFormProps): JSX.Element {
  const form = schema === null ? null : formOf(schema);
  const [value, setValue] = useState<unknown>({});
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  // No text is no answer; whoever means null writes it.
  const isGiven = form !== null || (text.trim() !== '' && jsonError(text) === null);
  const isReady = !isBusy && !isDisabled && isGiven;
  const submit = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const given = form === null ? parsed(text) : parsed(exactText(form.answerOf(value) ?? null));
    await onAnswer(given).catch((reason: unknown) => setError(messageOf(reason)));
    setBusy(false);
  };
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void submit();
      }}
    >
      {form === null
        ? <JsonField label="Answer" hint="JSON" rows={3} text={text} onInput={setText} />
        : <SchemaForm schema={form.schema} value={value} onChange={setValue} />}
      {error !== null && <strong class="field-error" role="alert">{error}</strong>}
      <footer>
        <button type="submit" class="button" data-kind="primary" disabled={!isReady}>Answer</button>
      </footer>
    </form>
  );
}

const parsed = (text: string): unknown => JSON.parse(text) as unknown;

interface FormSchema {
  readonly schema: JsonSchema;
  readonly answerOf: (value: unknown) => unknown;
}

/** A form has fields for properties: an answer that is not an object becomes the only property of one. */
function formOf(schema: JsonSchema): FormSchema {
  if (hasForm(schema)) return { schema, answerOf: (value) => value };
  const { $defs, ...rest } = schema;
  const properties = { Answer: rest };
  return {
    schema: { type: 'object', properties, required: ['Answer'], ...($defs === undefined ? {} : { $defs }) },
    answerOf: (value) => (value as { readonly Answer?: unknown }).Answer,
  };
}
