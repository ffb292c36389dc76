// Values by a JSON Schema, for requests that a contract describes; and values that are damaged in one place.
import fc, { type Arbitrary } from 'fast-check';
import { hostileJson, hostileText } from './hostile.ts';

export interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** What takes the place of a text or number, by the name of its property; undefined: the schema alone decides. */
export type ByName = (property: string, schema: JsonSchema) => Arbitrary<unknown> | undefined;

/** Values that the schema mostly allows: formats and lengths of texts are left to chance. */
export function valuesOf(schema: JsonSchema, byName: ByName): Arbitrary<unknown> {
  return values(schema, '', { byName, defs: schema.$defs ?? {}, depth: 0 });
}

interface Place {
  readonly byName: ByName;
  readonly defs: Readonly<Record<string, JsonSchema>>;
  readonly depth: number;
}

const depthMax = 6;

function values(schema: JsonSchema, name: string, place: Place): Arbitrary<unknown> {
  if (place.depth > depthMax) return fc.constant(null);
  const inside = { ...place, depth: place.depth + 1 };
  if (schema.$ref !== undefined) return values(place.defs[schema.$ref.split('/').at(-1)!]!, name, inside);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return fc.oneof(...choices.map((choice) => values(choice, name, inside)));
  if (schema.allOf !== undefined) return values(Object.assign({}, ...schema.allOf) as JsonSchema, name, inside);
  return place.byName(name, schema) ?? ofType(schema, name, inside);
}

function ofType(schema: JsonSchema, name: string, place: Place): Arbitrary<unknown> {
  const { type } = schema;
  if (Array.isArray(type)) return fc.oneof(...type.map((one: string) => ofType({ ...schema, type: one }, name, place)));
  switch (type) {
    case 'object': return objects(schema, place);
    case 'array': return arrays(schema, name, place);
    case 'string': return hostileText;
    case 'integer': return integers(schema);
    case 'number': return fc.oneof(integers(schema), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean': return fc.boolean();
    case 'null': return fc.constant(null);
    default: return fc.jsonValue();
  }
}

/** Few of the optional properties at a time, so that the others do not hide what one of them does. */
const optionalMax = 3;

function objects({ properties = {}, required = [], additionalProperties }: JsonSchema, place: Place): Arbitrary<unknown> {
  const optional = Object.keys(properties).filter((name) => !required.includes(name));
  const known = fc.subarray(optional, { maxLength: Math.min(optionalMax, optional.length) }).chain((chosen) =>
    fc.record(Object.fromEntries([...required, ...chosen].map((name) => [name, values(properties[name] ?? {}, name, place)]))));
  if (typeof additionalProperties !== 'object') return known;
  const others = fc.dictionary(hostileText, values(additionalProperties, '', place), { maxKeys: 3 });
  return fc.tuple(known, others).map(([own, more]) => ({ ...more, ...own }));
}

const arrays = ({ items = {}, minItems = 0, maxItems = minItems + 4 }: JsonSchema, name: string, place: Place): Arbitrary<unknown> =>
  fc.array(values(items, name, place), { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, minItems + 4)) });

function integers({ minimum = -1_000, maximum = 10_000 }: JsonSchema): Arbitrary<number> {
  const [least, most] = [Math.max(minimum, -(2 ** 31)), Math.min(maximum, 2 ** 31 - 1)];
  const low = fc.integer({ min: least, max: Math.min(most, least + 20) });
  return fc.oneof(low, fc.integer({ min: least, max: most }), fc.constantFrom(least, most));
}

/** The value; once in six times with a part replaced, removed or added that the grammar does not allow. */
export const perhapsDamaged = (of: Arbitrary<unknown>): Arbitrary<unknown> =>
  fc.tuple(of, fc.nat(5), fc.nat(1_000), hostileJson, hostileText).map(([value, luck, at, hostile, key]) => {
    if (luck > 0) return value;
    const count = { left: at % Math.max(1, sizeOf(value)) };
    return replaced(value, count, hostile, key);
  });

const sizeOf = (value: unknown): number =>
  (typeof value === 'object' && value !== null ? Object.values(value).reduce<number>((sum, one) => sum + sizeOf(one), 1) : 1);

function replaced(value: unknown, count: { left: number }, hostile: unknown, key: string): unknown {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (count.left-- === 0) return isRecord ? { ...value, [key]: hostile } : hostile;
  if (Array.isArray(value)) return value.map((one) => replaced(one, count, hostile, key));
  if (!isRecord) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, count, hostile, key)]));
}
