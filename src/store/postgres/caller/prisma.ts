/** Prisma: the `tx` of an interactive transaction, which lacks the methods that connect and disconnect a client. */
import { has, rowsOf, type Library } from './library.ts';

interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: readonly unknown[]): Promise<unknown>;
}

const isPrisma = (value: object): value is PrismaTransaction => has(value, '$queryRawUnsafe');

export const prisma: Library = (value) => {
  if (!isPrisma(value)) return null;
  const todo = 'pass the tx that $transaction(async (tx) => …) gives';
  if (has(value, '$connect')) return { what: 'a PrismaClient', todo };
  return async (text, values) => rowsOf(await value.$queryRawUnsafe(text, ...values));
};
