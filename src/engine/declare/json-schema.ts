/**
 * JSON Schema of an input: derived from the schema of a type, so that programs without its code can validate too.
 * `checkStorable` refuses a zod schema whose valid inputs would change when they are stored as JSON.
 */
import { z } from 'zod';
import { Refusal } from '../../refusal.ts';
import type { Schema } from './schema.ts';

/** The zod types whose values JSON cannot hold, each with the advice that the refusal gives. */
const unstorable: Readonly<Record<string, string>> = {
  date: 'use z.iso.datetime(), or z.coerce.date() for a Date in the handler',
  bigint: 'use z.string(), or z.coerce.bigint() for a bigint in the handler',
  map: 'use z.record()',
  set: 'use z.array()',
  symbol: 'use z.string()',
  nan: 'use z.number().nullable()',
  function: 'leave it out',
  void: 'leave input out of the job type',
  undefined: 'leave input out of the job type',
};

const texts = new WeakMap<Schema, string | null>();
/**
 * The maximum length of a JSON Schema in the catalogue. A longer one is not stored, and programs without the code of
 * the type accept every input.
 */
const textMax = 500_000;

/** Returns the JSON Schema as text; null: the library cannot convert the schema, or the text is too long. Cached. */
export function jsonSchemaText(schema: Schema): string | null {
  const known = texts.get(schema);
  if (known !== undefined) return known;
  const json = jsonSchemaOf(schema);
  const text = json === null ? null : JSON.stringify(json);
  const fitting = text === null || text.length > textMax ? null : text;
  texts.set(schema, fitting);
  return fitting;
}

export function jsonSchemaOf(schema: Schema): Record<string, unknown> | null {
  try {
    if (isZod(schema)) return z.toJSONSchema(schema, zodOptions);
    return schema['~standard'].jsonSchema?.input({ target: 'draft-2020-12' }) ?? null;
  } catch {
    // Schema libraries throw for types that JSON Schema does not have.
    return null;
  }
}

/**
 * Refuses a zod schema with a type that JSON cannot hold, such as a date. An input with a date would be valid at
 * creation, be stored with a string instead, and be invalid when the run starts. `what`: what the schema is for.
 */
export function checkStorable(what: string, schema: Schema): void {
  if (!isZod(schema)) return;
  for (const { kind, path } of unstorableParts(schema)) {
    const where = path === '' ? what : `${path} in ${what}`;
    const message = `${where} is a ${kind}, which JSON cannot hold: ${unstorable[kind]}`;
    throw new Refusal('malformed.option', message, { what, path, kind });
  }
}

/**
 * Converts JSON Schema to a zod schema, for programs without the code of the type. Null: zod cannot read the JSON
 * Schema, so every input is accepted.
 */
export function schemaFromText(text: string): Schema | null {
  try {
    return z.fromJSONSchema(JSON.parse(text) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null;
  }
}

const isZod = (schema: Schema): schema is Schema & z.ZodType => '_zod' in schema;

const zodOptions = { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' } as const;

interface SchemaPart {
  readonly kind: string;
  readonly path: string;
}

/**
 * Returns the parts of a schema whose values JSON cannot hold. Leaves out parts whose input can still be JSON: coerced
 * parts, alternatives of a union, the schema of `z.preprocess`, and `undefined` or `void` inside another schema.
 */
function unstorableParts(schema: z.ZodType): readonly SchemaPart[] {
  const found: (SchemaPart & { readonly part: unknown })[] = [];
  const made = new Set<unknown>();
  const override: NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'] = ({ zodSchema, path }) => {
    const { type: kind, ...def } =
      zodSchema._zod.def as { type: string; coerce?: boolean; in?: ZodPart; out?: ZodPart };
    if (kind === 'pipe' && def.in?._zod.def.type === 'transform') made.add(def.out);
    const isWhole = path.length === 0;
    const isEmpty = kind === 'void' || kind === 'undefined';
    if (!Object.hasOwn(unstorable, kind) || def.coerce || path.includes('anyOf') || (isEmpty && !isWhole)) return;
    found.push({ kind, path: path.filter((name) => name !== 'properties').join('.'), part: zodSchema });
  };
  try {
    z.toJSONSchema(schema, { ...zodOptions, override });
  } catch {
    return [];
  }
  return found.filter(({ part }) => !made.has(part));
}

interface ZodPart {
  readonly _zod: { readonly def: { readonly type: string } };
}
