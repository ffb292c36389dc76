/** A route of the HTTP API, and what the tables of routes share: lists of roles, paths and schemas. */
import { z } from 'zod';
import { apiPath, type Role } from './words.ts';

export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  /** The caller needs one of these roles; null: the route is open to everyone. */
  readonly roles: readonly Role[] | null;
  readonly summary: string;
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly answer: z.ZodType;
  /** The format of the response, if not JSON. */
  readonly as?: 'events' | 'text';
  /** Default: 200. */
  readonly status?: 201 | 202 | 204;
}

export const readers: readonly Role[] = ['viewer'];
export const produce: readonly Role[] = ['producer'];
export const readersAndProducers: readonly Role[] = ['viewer', 'producer'];
export const operate: readonly Role[] = ['operator'];
/** For producers, the handler also checks that the producer has created the run. */
export const operateOrOwn: readonly Role[] = ['operator', 'producer'];
export const work: readonly Role[] = ['worker'];
export const administer: readonly Role[] = ['admin'];

export const Items = <S extends z.ZodType>(id: string, one: S) => z.object({ items: z.array(one) }).meta({ id });
export const text = z.string();
/** Prefixes a path with `apiPath`. The result is a literal type, so that the compiler checks the dashboard's paths. */
export const at = <const P extends string>(path: P): `${typeof apiPath}${P}` => `${apiPath}${path}`;
export const define = <const R extends Record<string, Route>>(table: R): R => table;
