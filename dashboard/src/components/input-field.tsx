/** The input of a run: a form where the type has a schema, and always JSON for those who would rather write it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactText, parseExact } from '../exact-json.ts';
import { JsonField, jsonError } from './field.tsx';
import { hasForm, SchemaForm, type JsonSchema } from './schema-form.tsx';

interface InputFieldProps {
  readonly schema: JsonSchema | null;
  /** JSON; both ways of writing it change this text. */
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly hint: string;
}

export function InputField({ schema, text, onInput, hint }: InputFieldProps): JSX.Element {
  const [isJson, setJson] = useState(false);
  if (schema === null || !hasForm(schema)) return <JsonField label="Input" text={text} onInput={onInput} hint={hint} />;
  const isForm = !isJson && jsonError(text) === null;
  return (
    <div class="input-field">
      <div class="segments" role="group" aria-label="How to write the input">
        <button type="button" aria-pressed={isForm} disabled={jsonError(text) !== null} onClick={() => setJson(false)}>
          Form
        </button>
        <button type="button" aria-pressed={!isForm} onClick={() => setJson(true)}>JSON</button>
      </div>
      {isForm
        ? (
          <SchemaForm
            schema={schema} value={text.trim() === '' ? {} : parseExact(text)}
            onChange={(value) => onInput(exactText(value))}
          />
        )
        : <JsonField label="Input" text={text} onInput={onInput} hint={hint} />}
    </div>
  );
}
