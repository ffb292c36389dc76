/** The input of a run: a form if the type has a schema, or JSON. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactText, parseExact } from '../exact-json.ts';
import { JsonField, jsonError } from './field.tsx';
import { hasForm, SchemaForm, type JsonSchema } from './schema-form.tsx';

interface InputFieldProps {
  readonly schema: JsonSchema | null;
  /** The input as JSON text. The form edits this text too. */
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly hint: string;
}

export function InputField({ schema, text, onInput, hint }: InputFieldProps): JSX.Element {
  const [isJson, setJson] = useState(false);
  const isText = isJson || jsonError(text) !== null;
  // Typing selects the JSON field, so that it is not replaced when the schema arrives or the text becomes valid.
  const write = (next: string): void => {
    setJson(true);
    onInput(next);
  };
  return (
    <div class="input-field">
      {schema !== null && hasForm(schema) && (
        <div class="segments" role="group" aria-label="Input as form or JSON">
          <button
            type="button" aria-pressed={!isText} disabled={jsonError(text) !== null} onClick={() => setJson(false)}
          >
            Form
          </button>
          <button type="button" aria-pressed={isText} onClick={() => setJson(true)}>JSON</button>
        </div>
      )}
      {schema === null || !hasForm(schema) || isText
        ? <JsonField label="Input" text={text} onInput={write} hint={hint} />
        : (
          <SchemaForm
            schema={schema} value={text.trim() === '' ? {} : parseExact(text)}
            onChange={(value) => onInput(exactText(value))}
          />
        )}
    </div>
  );
}
