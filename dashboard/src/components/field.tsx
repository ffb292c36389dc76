/** Form fields: a label, a control, a hint and an error. */
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren;
  /** Why the value is invalid; null: it is valid. */
  readonly error?: string | null;
}

interface TextFieldProps extends FieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly name?: string;
  readonly type?: 'text' | 'number' | 'password' | 'datetime-local';
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  /** Values that are suggested while the user types. */
  readonly suggestions?: readonly string[];
}

export function TextField(props: TextFieldProps): JSX.Element {
  const { label, hint, error, value, onInput, name, type = 'text', placeholder, isRequired, suggestions } = props;
  const list = useId();
  return (
    <Labelled label={label} hint={hint} error={error ?? null}>
      <input
        {...({ type } as { type: 'text' })} {...{ name, value, placeholder }} required={isRequired}
        aria-invalid={error != null} autocomplete="off" list={suggestions && list}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {suggestions && <datalist id={list}>{suggestions.map((one) => <option key={one} value={one} />)}</datalist>}
    </Labelled>
  );
}

interface JsonFieldProps extends FieldProps {
  readonly text: string;
  readonly onInput: (text: string) => void;
  readonly rows?: number;
}

/** A text field for JSON; shows why the text is invalid. */
export function JsonField({ label, hint, text, onInput, rows = 8 }: JsonFieldProps): JSX.Element {
  const error = jsonError(text);
  return (
    <Labelled label={label} hint={hint} error={error}>
      <textarea
        class="code" rows={rows} spellcheck={false} value={text} aria-invalid={error !== null}
        ref={(element) => element?.setCustomValidity(error ?? '')}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </Labelled>
  );
}

/** Returns why the text is not valid JSON; null: it is valid or empty. */
export function jsonError(text: string): string | null {
  if (text.trim() === '') return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

export interface SelectOption<T extends string> {
  readonly value: T;
  readonly label: string;
}

interface SelectFieldProps<T extends string> extends FieldProps {
  readonly value: T;
  readonly options: readonly (T | SelectOption<T>)[];
  readonly onChange: (value: T) => void;
}

export function SelectField<T extends string>(props: SelectFieldProps<T>): JSX.Element {
  const { label, hint, error, value, options, onChange } = props;
  return (
    <Labelled label={label} hint={hint} error={error ?? null}>
      <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as T)}>
        {options.map((option) => {
          const { value: each, label: text } = typeof option === 'string' ? { value: option, label: option } : option;
          return <option key={each} value={each}>{text}</option>;
        })}
      </select>
    </Labelled>
  );
}

interface CheckFieldProps {
  readonly label: ComponentChildren;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function CheckField({ label, isOn, onChange }: CheckFieldProps): JSX.Element {
  return (
    <label class="tick">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function Labelled({ label, hint, error, children }: FieldProps & { children: ComponentChildren }): JSX.Element {
  return (
    <label class="field">
      <span>{label}{hint !== undefined && <> <em>{hint}</em></>}</span>
      {children}
      {error != null && <strong class="field-error">{error}</strong>}
    </label>
  );
}
