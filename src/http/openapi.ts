/** The OpenAPI document, generated from the contract. */
import { z } from 'zod';
import { version } from '../version.ts';
import { cookieName } from './access/sessions.ts';
import { Problem, routes, type Route } from './contract.ts';

type JsonSchema = Record<string, unknown>;

let document: (JsonSchema & { openapi: string }) | undefined;

export const openApi = (): JsonSchema & { openapi: string } => (document ??= make());

function make(): JsonSchema & { openapi: string } {
  const schemas: JsonSchema = {};
  const ref = (schema: z.ZodType): JsonSchema => jsonSchema(schema, schemas);
  const paths: Record<string, JsonSchema> = {};
  for (const [name, route] of Object.entries(routes) as [string, Route][]) {
    (paths[route.path] ??= {})[route.method] = operation(name, route, ref);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stint', version, description: 'Schedule and run jobs.' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: cookieName },
      },
    },
    security: [{ token: [] }, { session: [] }],
  };
}

function operation(name: string, route: Route, ref: (schema: z.ZodType) => JsonSchema): JsonSchema {
  return {
    operationId: name,
    summary: route.summary,
    ...(route.roles === null
      ? { security: [] }
      : {
        description: `Requires the role ${route.roles.join(' or ')}, or one that includes it.`,
        'x-roles': route.roles,
      }),
    parameters: [...fields(route.params, 'path'), ...fields(route.query, 'query')],
    ...(route.body ? { requestBody: { content: { 'application/json': { schema: ref(route.body) } } } } : {}),
    responses: {
      [route.status ?? 200]: {
        description: route.summary,
        content: { [mediaOf(route)]: { schema: ref(route.answer) } },
      },
      default: { description: 'A problem', content: { 'application/problem+json': { schema: ref(Problem) } } },
    },
  };
}

const mediaOf = ({ as }: Route): string =>
  as === 'events' ? 'text/event-stream' : as === 'text' ? 'text/plain' : 'application/json';

function fields(schema: z.ZodType | undefined, where: 'path' | 'query'): JsonSchema[] {
  if (schema === undefined) return [];
  const own = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema;
  const object = (typeof own['$ref'] === 'string' ? Object.values(own['$defs'] as JsonSchema)[0] : own) as {
    properties: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(object.properties).map(([name, { description, ...one }]) => ({
    name,
    in: where,
    required: where === 'path' || (object.required?.includes(name) ?? false),
    ...(description === undefined ? {} : { description }),
    ...(one['type'] === 'array' ? { style: 'form', explode: name === 'tag' } : {}),
    schema: one,
  }));
}

/** Converts a schema to JSON Schema. Its named parts are added to `schemas` and replaced by references to them. */
function jsonSchema(schema: z.ZodType, schemas: JsonSchema): JsonSchema {
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const { $schema: _schema, $defs = {}, ...own } = made;
  for (const [name, part] of Object.entries($defs as JsonSchema)) schemas[name] ??= withComponentRefs(part);
  return withComponentRefs(own) as JsonSchema;
}

function withComponentRefs(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withComponentRefs);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, value]) => {
      if (name === 'id' && typeof value === 'string') return [];
      if (name === '$ref') return [[name, String(value).replace('#/$defs/', '#/components/schemas/')]];
      return [[name, withComponentRefs(value)]];
    }),
  );
}
