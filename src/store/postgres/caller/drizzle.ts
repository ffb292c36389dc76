/** Drizzle: the `tx` of a transaction on PostgreSQL, with any of its drivers. */
import { rowsOf, type Library } from './library.ts';
import { canPrepare } from './pg.ts';

interface DrizzleTransaction {
  readonly _: { readonly session: DrizzleSession };
}

interface DrizzleSession {
  readonly client?: unknown;
  prepareQuery(query: object, fields: undefined, name: string | undefined, isResponseInArrayMode: boolean): {
    execute(): Promise<unknown>;
  };
}

/** The name under which each class of Drizzle says what it is. */
const entityKind = Symbol.for('drizzle:entityKind');

export const drizzle: Library = (value) => {
  const kinds = kindsOf(value);
  if (kinds.length === 0) return null;
  if (kinds.includes('PgTransaction')) {
    const { session } = (value as DrizzleTransaction)._;
    return async (sql, params, name) => {
      const used = canPrepare(session.client) ? name : undefined;
      return rowsOf(await session.prepareQuery({ sql, params }, undefined, used, false).execute());
    };
  }
  const todo = 'pass the tx that db.transaction() gives';
  if (kinds.includes('PgDatabase')) return { what: 'a Drizzle database', todo };
  return { what: `a Drizzle ${kinds[0]}`, todo: 'pass the tx of a transaction on PostgreSQL' };
};

/** The kinds of an object of Drizzle, its own and those of its base classes; none: it is no object of Drizzle. */
function kindsOf(value: object): string[] {
  const kinds: string[] = [];
  for (let prototype = prototypeOf(value); prototype !== null; prototype = prototypeOf(prototype)) {
    const kind = (prototype.constructor as { readonly [entityKind]?: unknown } | undefined)?.[entityKind];
    if (typeof kind === 'string') kinds.push(kind);
  }
  return kinds;
}

const prototypeOf = (value: object): object | null => Object.getPrototypeOf(value) as object | null;
