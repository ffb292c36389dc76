/** Standard Schema: the common interface of zod, valibot, arktype and others, any of which a job type accepts. */
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

/** A schema that validates nothing and only declares the type to TypeScript: `input: typed<{ to: string }>()`. */
export const typed = <T>(): Schema<T> => ({
  '~standard': { version: 1, vendor: 'stint', validate: (value) => ({ value: value as T }) },
});

/** Returns the output of the schema, or refuses with every issue and its path. */
export const checked = <Output>(schema: Schema<unknown, Output>, value: unknown, what: string): MaybePromise<Output> =>
  andThen(schema['~standard'].validate(value), (outcome) => outputOf(outcome, what));

function outputOf<Output>(outcome: Checked<Output>, what: string): Output {
  if (outcome.issues === undefined) return outcome.value;
  const issues = outcome.issues.map(({ message, path = [] }) => ({ path: path.map(pathSegment).join('.'), message }));
  const problems = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
  throw new Refusal('malformed.input', `the input of ${what} is invalid: ${problems}`, { issues });
}

const pathSegment = (segment: unknown): string =>
  typeof segment === 'object' && segment !== null && 'key' in segment ? String(segment.key) : String(segment);
