/** The OpenAPI document, made from the contract. */
import { z } from 'zod';
import { version } from '../version.ts';
import { Problem, routes, type Route } from './contract.ts';

type Json = Record<string, unknown>;

let document: (Json & { openapi: string }) | undefined;

export const openApi = (): Json & { openapi: string } => (document ??= make());

function make(): Json & { openapi: string } {
  const schemas: Json = {};
  const ref = (schema: z.ZodType): Json => jsonSchema(schema, schemas);
  const paths: Record<string, Json> = {};
  for (const [name, route] of Object.entries(routes) as [string, Route][]) {
    (paths[route.path] ??= {})[route.method] = operation(name, route, ref);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Stint', version, description: 'Schedules jobs and runs them.' },
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: '__Host-stint' },
      },
    },
    security: [{ token: [] }, { session: [] }],
  };
}

function operation(name: string, route: Route, ref: (schema: z.ZodType) => Json): Json {
  return {
    operationId: name,
    summary: route.summary,
    ...(route.roles === null
      ? { security: [] }
      : { description: `For the role ${route.roles.join(' or ')}, or one that includes it.`, 'x-roles': route.roles }),
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

function fields(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const own = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as Json;
  const object = (typeof own['$ref'] === 'string' ? Object.values(own['$defs'] as Json)[0] : own) as {
    properties: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(object.properties).map(([name, { description, ...one }]) => ({
    name,
    in: place,
    required: place === 'path' || (object.required?.includes(name) ?? false),
    ...(description === undefined ? {} : { description }),
    ...(one['type'] === 'array' ? { style: 'form', explode: name === 'tag' } : {}),
    schema: one,
  }));
}

/** As a reference to the components, which take in all that it is made of. */
function jsonSchema(schema: z.ZodType, schemas: Json): Json {
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Json;
  const { $schema: _schema, $defs = {}, ...own } = made;
  for (const [name, part] of Object.entries($defs as Json)) schemas[name] ??= pointed(part);
  return pointed(own) as Json;
}

function pointed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(pointed);
  if (typeof part !== 'object' || part === null) return part;
  return Object.fromEntries(
    Object.entries(part).flatMap(([name, value]) => {
      if (name === 'id' && typeof value === 'string') return [];
      if (name === '$ref') return [[name, String(value).replace('#/$defs/', '#/components/schemas/')]];
      return [[name, pointed(value)]];
    }),
  );
}
