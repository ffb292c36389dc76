/** Standard Schema: the common interface of zod, valibot, arktype and others. A job type accepts all of these. */
import { Refusal } from '../../refusal.ts';
import { andThen, type MaybePromise } from '../../time/maybe-promise.ts';

export interface Schema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Converts the schema to JSON Schema. Absent: the library does not implement Standard JSON Schema. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: 'draft-2020-12' }) => Record<string, unknown>;
    };
  };
}

type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };

export type InputOf<S extends Schema> = NonNullable<S['~standard']['types']>['input'];
export type OutputOf<S extends Schema> = NonNullable<S['~standard']['types']>['output'];

/** Returns a schema that accepts every value and only declares a TypeScript type: `input: typed<{ to: string }>()`. */
export const typed = <T>(): Schema<T> => ({
  '~standard': { version: 1, vendor: 'stint', validate: (value) => ({ value: value as T }) },
});

/** Validates a value and returns the output of the schema. Refuses an invalid value with all issues and paths. */
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
