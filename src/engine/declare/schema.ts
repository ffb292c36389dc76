/** Standard Schema: the shape that zod, valibot, arktype and others share, so that a job type takes any of them. */
import { Refusal } from '../../refusal.ts';
import { andThen, type MaybePromise } from '../../time/maybe-promise.ts';

export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, where the library has it. */
    readonly jsonSchema?: { readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown> };
  };
}

type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** A schema that checks nothing and only tells TypeScript the type: `input: typed<{ to: string }>()`. */
export const typed = <T>(): Schema<T> => ({
  '~standard': { version: 1, vendor: 'stint', validate: (value) => ({ value: value as T }) },
});

/** What it takes, as JSON Schema; null: it cannot say. */
export function jsonSchemaOf(schema: Schema): Record<string, unknown> | null {
  try {
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
  } catch {
    // The library has no words in JSON Schema for a part of it, such as a date: then it is written by hand.
    return null;
  }
}

/** The value as the schema gives it; a refusal that names every mistake and its path. */
export const checked = <Output>(schema: Schema<unknown, Output>, value: unknown, what: string): MaybePromise<Output> =>
  andThen(schema['~standard'].validate(value), (outcome) => given(outcome, what));

function given<Output>(outcome: Checked<Output>, what: string): Output {
  if (outcome.issues === undefined) return outcome.value;
  const issues = outcome.issues.map(({ message, path = [] }) => ({ path: path.map(pathSegment).join('.'), message }));
  const problems = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new Refusal('malformed.input', `the input of ${what} is invalid: ${problems}`, { issues });
}

const pathSegment = (segment: unknown): string =>
  typeof segment === 'object' && segment !== null && 'key' in segment ? String(segment.key) : String(segment);
