/** The page of the HTTP API, from its contract: routes first, then the shapes that go in and come out. */
import { z } from 'zod';
import { apiPath, routes, type Route } from '../../src/http/contract.ts';
import { code, page, table } from './markdown.ts';

type Json = { readonly [key: string]: unknown };
/** What goes in is told as it may be sent, what comes out as it is answered. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): Json =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any', target: 'draft-2020-12' });

const all = Object.entries(routes) as [string, Route][];

export const httpPage = (): string =>
  page(
    'HTTP',
    `
    Everything is JSON below \`${apiPath}\`, and every server describes itself at \`${apiPath}/openapi.json\`. Times
    are milliseconds since 1970 by the clock of the store; where one is asked for, ISO 8601 with a zone will do. A
    refusal is a problem (RFC 9457) with [its code](refusals.md). With tokens set up, send \`Authorization: Bearer
    …\`; an operator is also viewer and producer, an admin is everything. In TypeScript, \`Client\` of
    \`stint/client\` has \`call(name, …)\` for each of these names.
    `,
    '## Routes',
    table(
      ['name', 'route', 'role', 'what it does'],
      all.map(([name, { method, path, roles, summary }]) => [
        code(name), code(`${method.toUpperCase()} ${path}`), roles === null ? 'anyone' : roles.join(', '), summary,
      ]),
    ),
    '## What is sent',
    ...all.flatMap(([name, route]) => sentWith(name, route)),
    '## What is answered',
    ...answered(),
  );

function sentWith(name: string, { query, body }: Route): string[] {
  const parts = [['query', query], ['body', body]] as const;
  return parts.flatMap(([where, schema]) => {
    const rows = schema === undefined ? [] : rowsOf(schemaOf(schema, 'input'));
    return rows.length === 0 ? [] : [`### ${name}: ${where}\n\n${table(['field', 'shape', ''], rows)}`];
  });
}

/** Each shape once, however many routes answer it. */
function answered(): string[] {
  const shapes = new Map<string, Json>();
  for (const [name, { answer, as }] of all) {
    if (as !== undefined) continue;
    const schema = schemaOf(answer, 'output');
    const { $defs = {} } = schema as { $defs?: Record<string, Json> };
    for (const [id, shape] of Object.entries($defs)) shapes.set(id, shape);
    const { id = name } = (answer.meta() ?? {}) as { id?: string };
    shapes.set(id, resolved(schema));
  }
  return [...shapes].sort(([a], [b]) => a.localeCompare(b)).flatMap(([id, schema]) => {
    const rows = rowsOf(schema);
    return rows.length === 0 ? [] : [`### ${id}\n\n${table(['field', 'shape', ''], rows)}`];
  });
}

function rowsOf(schema: Json): string[][] {
  const found = resolved(schema) as { properties?: Record<string, Json>; required?: string[] };
  const { properties = {}, required = [] } = found;
  return Object.entries(properties).map(([field, shape]) => [
    `${code(field)}${required.includes(field) ? '' : '?'}`,
    code(shapeOf(shape)),
    typeof shape['description'] === 'string' ? shape['description'] : '',
  ]);
}

/** A shape with a name of its own is told by reference. */
function resolved(schema: Json): Json {
  const { $ref, $defs } = schema as { $ref?: string; $defs?: Record<string, Json> };
  return $ref === undefined ? schema : $defs![$ref.replace(/^.*\//, '')]!;
}

/** A shape in a few words; what has a name of its own goes by it. */
function shapeOf(schema: Json, depth = 0): string {
  const { $ref, enum: values, const: value, anyOf, oneOf, type, items, properties, additionalProperties, id } = schema;
  if (typeof $ref === 'string') return $ref.replace(/^.*\//, '');
  if (typeof id === 'string' && depth > 0) return id;
  if (Array.isArray(values)) return values.join(' | ');
  if (value !== undefined) return JSON.stringify(value);
  const choices = (anyOf ?? oneOf) as Json[] | undefined;
  if (choices) return [...new Set(choices.map((each) => shapeOf(each, depth + 1)))].join(' | ');
  if (type === 'array') return `${grouped(shapeOf((items ?? {}) as Json, depth + 1))}[]`;
  if (type !== 'object') return Array.isArray(type) ? type.join(' | ') : typeof type === 'string' ? type : 'any';
  const fields = Object.entries((properties ?? {}) as Record<string, Json>);
  if (fields.length === 0 && additionalProperties) return `map of ${shapeOf(additionalProperties as Json, depth + 1)}`;
  if (fields.length === 0) return 'object';
  if (depth > 1) return `{ ${fields.map(([name]) => name).join(', ')} }`;
  return `{ ${fields.map(([name, shape]) => `${name}: ${shapeOf(shape, depth + 1)}`).join(', ')} }`;
}

const grouped = (shape: string): string => (/^[^{]* \| /.test(shape) ? `(${shape})` : shape);
