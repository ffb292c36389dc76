// The libraries on PostgreSQL, each by its own package, with its own transactions and savepoints.
import { PrismaPg } from '@prisma/adapter-pg';
import { getPrismaClient } from '@prisma/client/runtime/client';
import { sql as drizzleSql } from 'drizzle-orm';
import { drizzle as drizzleOnPg } from 'drizzle-orm/node-postgres';
import type { PgDatabase, PgQueryResultHKT, PgTransaction } from 'drizzle-orm/pg-core';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import knex, { type Knex } from 'knex';
import { CamelCasePlugin, Kysely, PostgresDialect, sql as kyselySql, type ControlledTransaction } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { DataSource, type EntityManager } from 'typeorm';
import type { Connected, Library, Tx } from './library.ts';

const insert = 'insert into own values ($1)';

const pgClient: Library = {
  name: 'pg',
  async connect(address) {
    const pool = new pg.Pool({ connectionString: address, max: 1 });
    const tx = (client: pg.PoolClient): Tx => ({
      handle: client,
      write: async (text) => void (await client.query(insert, [text])),
      nested: (work) => between(client, ['savepoint own', 'release own', 'rollback to own'], () => work(tx(client))),
    });
    return {
      wrong: { 'a pg Pool': pool },
      transaction: async (work) => {
        const client = await pool.connect();
        await between(client, ['begin', 'commit', 'rollback'], () => work(tx(client))).finally(() => client.release());
      },
      close: () => pool.end(),
    };
  },
};

async function between(
  client: pg.ClientBase,
  [begin, commit, rollback]: readonly [string, string, string],
  work: () => Promise<void>,
): Promise<void> {
  await client.query(begin);
  try {
    await work();
  } catch (error) {
    await client.query(rollback);
    throw error;
  }
  await client.query(commit);
}

const postgresJs: Library = {
  name: 'postgres.js that renames columns',
  async connect(address) {
    const sql = postgres(address, { max: 1, transform: postgres.camel, onnotice: () => {} });
    const tx = (one: postgres.TransactionSql): Tx => ({
      handle: one,
      write: async (text) => void (await one`insert into own values (${text})`),
      nested: (work) => one.savepoint((inner) => work(tx(inner))),
    });
    return {
      wrong: { 'the sql of postgres.js': sql },
      transaction: (work) => sql.begin((one) => work(tx(one))),
      close: () => sql.end(),
    };
  },
};

type DrizzleTx = PgTransaction<PgQueryResultHKT, Record<string, never>, Record<string, never>>;

const drizzleTx = (one: DrizzleTx): Tx => ({
  handle: one,
  write: async (text) => void (await one.execute(drizzleSql`insert into own values (${text})`)),
  nested: (work) => one.transaction((inner) => work(drizzleTx(inner))),
});

const drizzleConnected = (db: unknown, close: () => Promise<void>): Connected => ({
  wrong: { 'a Drizzle database': db },
  transaction: (work) =>
    (db as PgDatabase<PgQueryResultHKT>).transaction((one) => work(drizzleTx(one as unknown as DrizzleTx))),
  close,
});

const drizzlePg: Library = {
  name: 'Drizzle on pg',
  async connect(address) {
    const pool = new pg.Pool({ connectionString: address, max: 1 });
    return drizzleConnected(drizzleOnPg(pool), () => pool.end());
  },
};

const drizzlePostgresJs: Library = {
  name: 'Drizzle on postgres.js',
  async connect(address) {
    const client = postgres(address, { max: 1, onnotice: () => {} });
    return drizzleConnected(drizzleOnPostgresJs(client), () => client.end());
  },
};

const kysely: Library = {
  name: 'Kysely that renames columns',
  async connect(address) {
    const pool = new pg.Pool({ connectionString: address, max: 1 });
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] });
    const tx = (trx: ControlledTransaction<unknown>): Tx => ({
      handle: trx,
      write: async (text) => void (await kyselySql`insert into own values (${text})`.execute(trx)),
      nested: async (work) => {
        const inner = await trx.savepoint('own').execute();
        try {
          await work(tx(inner));
        } catch (error) {
          await inner.rollbackToSavepoint('own').execute();
          throw error;
        }
        await inner.releaseSavepoint('own').execute();
      },
    });
    return {
      wrong: { 'a Kysely instance': db },
      transaction: async (work) => {
        const trx = await db.startTransaction().execute();
        try {
          await work(tx(trx));
        } catch (error) {
          await trx.rollback().execute();
          throw error;
        }
        await trx.commit().execute();
      },
      close: () => db.destroy(),
    };
  },
};

const knexLibrary: Library = {
  name: 'Knex',
  async connect(address) {
    const db = knex({ client: 'pg', connection: address, pool: { min: 0, max: 1 } });
    const tx = (trx: Knex.Transaction): Tx => ({
      handle: trx,
      write: async (text) => void (await trx.raw('insert into own values (?)', [text])),
      nested: (work) => trx.transaction((inner) => work(tx(inner))),
    });
    return {
      wrong: { 'a Knex instance': db },
      transaction: (work) => db.transaction((trx) => work(tx(trx))),
      close: () => db.destroy(),
    };
  },
};

const typeorm: Library = {
  name: 'TypeORM',
  async connect(address) {
    const source = await new DataSource({ type: 'postgres', url: address, entities: [], poolSize: 1 }).initialize();
    const tx = (manager: EntityManager): Tx => ({
      handle: manager,
      write: async (text) => void (await manager.query(insert, [text])),
      nested: (work) => manager.transaction((inner) => work(tx(inner))),
    });
    return {
      wrong: { 'a TypeORM DataSource': source, 'a TypeORM EntityManager outside of a transaction': source.manager },
      transaction: (work) => source.transaction((manager) => work(tx(manager))),
      close: () => source.destroy(),
    };
  },
};

interface PrismaTx {
  $executeRawUnsafe(text: string, ...values: unknown[]): Promise<number>;
}

interface Prisma extends PrismaTx {
  $transaction(work: (tx: PrismaTx) => Promise<void>): Promise<void>;
  $disconnect(): Promise<void>;
}

const prisma: Library = {
  name: 'Prisma',
  async connect(address) {
    const PrismaClient = getPrismaClient(prismaConfig) as unknown as new (options: object) => Prisma;
    const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: address, max: 1 }) });
    const tx = (one: PrismaTx): Tx => ({
      handle: one,
      write: async (text) => void (await one.$executeRawUnsafe(insert, text)),
      nested: async (work) => {
        await one.$executeRawUnsafe('savepoint own');
        try {
          await work(tx(one));
        } catch (error) {
          await one.$executeRawUnsafe('rollback to own');
          throw error;
        }
        await one.$executeRawUnsafe('release own');
      },
    });
    return {
      wrong: { 'a PrismaClient': client },
      transaction: (work) => client.$transaction((one) => work(tx(one))),
      close: () => client.$disconnect(),
    };
  },
};

const prismaRuntime = '@prisma/client/runtime/query_compiler_fast_bg.postgresql';

/**
 * What `prisma generate` writes for a schema without models. The generator is not used, because it downloads a program
 * from outside of the npm registry.
 */
const prismaConfig: Parameters<typeof getPrismaClient>[0] = {
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0000000000000000000000000000000000000000',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    getRuntime: () => import(`${prismaRuntime}.mjs`) as Promise<never>,
    getQueryCompilerWasmModule: async () => {
      const { wasm } = (await import(`${prismaRuntime}.wasm-base64.mjs`)) as { readonly wasm: string };
      const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } };
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    },
    importName: './query_compiler_fast_bg.js',
  },
};

export const postgresLibraries: readonly Library[] = [
  pgClient, postgresJs, drizzlePg, drizzlePostgresJs, kysely, knexLibrary, typeorm, prisma,
];
