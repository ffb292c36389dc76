/** A form for a JSON Schema: one field for each property. A property that has no matching field gets a JSON field. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ExactNumber, exactText, parseExact } from '../exact-json.ts';
import { JsonField, jsonError, SelectField, TextField, type SelectOption } from './field.tsx';

export type JsonSchema = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;

interface SchemaFormProps {
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** Whether the schema has properties; otherwise a single JSON field is shown. */
export const hasForm = (schema: JsonSchema): boolean => Object.keys(propertiesOf(schema)).length > 0;

export function SchemaForm({ schema, value, onChange }: SchemaFormProps): JSX.Element {
  return <Properties schema={schema} root={schema} value={value} onChange={onChange} />;
}

interface PartProps extends SchemaFormProps {
  /** The whole schema, in which `$ref` is resolved. */
  readonly root: JsonSchema;
}

function Properties({ schema, root, value, onChange }: PartProps): JSX.Element {
  const members: Members = isMembers(value) ? value : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const put = (name: string, member: unknown): void => {
    const others = Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));
    onChange(member === undefined ? others : { ...others, [name]: member });
  };
  return (
    <div class="fields">
      {Object.entries(propertiesOf(schema)).map(([name, each]) => (
        <Member
          key={name} name={name} schema={resolved(each, root)} root={root} value={members[name]}
          isRequired={required.includes(name)} onChange={(member) => put(name, member)}
        />
      ))}
    </div>
  );
}

interface MemberProps extends PartProps {
  readonly name: string;
  readonly isRequired: boolean;
}

function Member(props: MemberProps): JSX.Element {
  const { name, schema, value, isRequired, onChange } = props;
  const label = `${textOf(schema['title']) || name}${isRequired ? ' *' : ''}`;
  const hint = hintOf(schema);
  if (choicesOf(schema) !== null) return <ChoiceMember {...props} label={label} hint={hint} />;
  if (schema['type'] === 'object' && hasForm(schema)) return <ObjectMember {...props} label={label} hint={hint} />;
  if (schema['type'] === 'string') {
    const write = (text: string): void => onChange(text === '' && !isRequired ? undefined : text);
    return (
      <TextField
        {...{ label, hint, name, isRequired }} value={typeof value === 'string' ? value : ''} onInput={write}
      />
    );
  }
  if (schema['type'] === 'number' || schema['type'] === 'integer') {
    const write = (text: string): void => onChange(text === '' ? undefined : parseExact(text));
    return <TextField {...{ label, hint, name, isRequired }} type="number" value={numberText(value)} onInput={write} />;
  }
  return <JsonMember label={label} hint={hint === '' ? 'JSON' : `JSON, ${hint}`} value={value} onChange={onChange} />;
}

interface LabelledProps extends MemberProps {
  readonly label: string;
  readonly hint: string;
}

function ChoiceMember({ label, hint, schema, value, isRequired, onChange }: LabelledProps): JSX.Element {
  const unset = isRequired && value !== undefined ? [] : [{ value: '', label: isRequired ? '(choose)' : '(default)' }];
  const choose = (text: string): void => onChange(text === '' ? undefined : parseExact(text));
  return (
    <SelectField
      label={label} hint={hint} value={value === undefined ? '' : exactText(value, 0)}
      options={[...unset, ...choicesOf(schema)!]} onChange={choose}
    />
  );
}

function ObjectMember({ label, hint, schema, root, value, onChange }: LabelledProps): JSX.Element {
  return (
    <fieldset class="field-group">
      <legend>{label}{hint !== '' && <em>{hint}</em>}</legend>
      <Properties schema={schema} root={root} value={value} onChange={onChange} />
    </fieldset>
  );
}

interface JsonMemberProps {
  readonly label: string;
  readonly hint: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/**
 * A JSON field for one property. Passes on the value whenever the text is valid JSON; otherwise the form cannot be
 * submitted.
 */
function JsonMember({ label, hint, value, onChange }: JsonMemberProps): JSX.Element {
  const [text, setText] = useState(value === undefined ? '' : exactText(value));
  const write = (input: string): void => {
    setText(input);
    if (jsonError(input) === null) onChange(input.trim() === '' ? undefined : parseExact(input));
  };
  return <JsonField label={label} hint={hint} rows={3} text={text} onInput={write} />;
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);

const propertiesOf = (schema: JsonSchema): Readonly<Record<string, JsonSchema>> =>
  isMembers(schema['properties']) ? (schema['properties'] as Record<string, JsonSchema>) : {};

/** Resolves a `$ref` within the document; a schema without `$ref` is returned unchanged. */
function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(textOf(schema['$ref']))?.[1];
  const definitions = (root['$defs'] ?? root['definitions']) as Members | undefined;
  const named = name === undefined ? undefined : definitions?.[name];
  return isMembers(named) ? { ...named, ...schema } : isMembers(schema) ? schema : {};
}

function choicesOf(schema: JsonSchema): readonly SelectOption<string>[] | null {
  const values: unknown = schema['enum'] ?? (schema['type'] === 'boolean' ? [true, false] : null);
  if (!Array.isArray(values)) return null;
  return (values as unknown[]).map((value) => {
    const text = exactText(value, 0);
    return { value: text, label: typeof value === 'string' ? value : text };
  });
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const numberText = (value: unknown): string =>
  value instanceof ExactNumber ? value.text : typeof value === 'number' ? String(value) : '';

/** The hint below a field, such as `whole number, 1 to 5, default 3`. */
function hintOf(schema: JsonSchema): string {
  const { description, type, minimum, maximum, default: fallback } = schema;
  const isBounded = (bound: unknown): bound is number =>
    typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  const [least, most] = [isBounded(minimum) ? minimum : null, isBounded(maximum) ? maximum : null];
  const parts = [
    textOf(description),
    type === 'integer' ? 'whole number' : '',
    least !== null && most !== null ? `${least} to ${most}` : '',
    least !== null && most === null ? `at least ${least}` : '',
    least === null && most !== null ? `at most ${most}` : '',
    fallback === undefined ? '' : `default ${exactText(fallback, 0)}`,
  ];
  return parts.filter(Boolean).join(', ');
}
