/** Recognizes the caller's transaction: of which library it is, and how to execute statements in it. */
import { kindOfValue, notATransaction } from '../../not-a-transaction.ts';
import { drizzle } from './drizzle.ts';
import { knex } from './knex.ts';
import { kysely } from './kysely.ts';
import type { Execute, Library } from './library.ts';
import { pg } from './pg.ts';
import { postgresJs } from './postgres-js.ts';
import { prisma } from './prisma.ts';
import { typeorm } from './typeorm.ts';

/** In this order: objects of other libraries have a method `query`, too. */
const libraries: readonly Library[] = [drizzle, kysely, knex, prisma, typeorm, postgresJs, pg];

/** Returns how to execute statements in the transaction. Refuses what is no transaction, and says what it is. */
export function executeIn(transaction: unknown): Execute {
  const found = isObject(transaction) ? firstOf(transaction) : null;
  if (typeof found === 'function') return found;
  throw found === null ? notATransaction(kindOfValue(transaction), todo) : notATransaction(found.what, found.todo);
}

const todo = 'pass the client on which you have begun a transaction, or the transaction of your query builder';

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

function firstOf(transaction: object): ReturnType<Library> {
  for (const library of libraries) {
    const found = library(transaction);
    if (found !== null) return found;
  }
  return null;
}
