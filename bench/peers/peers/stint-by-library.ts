/** The Stint engine in transactions of other libraries than pg: each by its own package. */
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Connected, Library, Tx } from '../../../test/transactions/library.ts';
import type { Input } from '../../payload.ts';
import type { DatabaseName } from '../../target.ts';
import { order } from '../application.ts';
import { queueName, type Handle, type Peer, type Queue } from '../peer.ts';
import { loadStint } from '../stint-package.ts';

const stintBy = (database: DatabaseName) => (library: string): Peer => ({
  name: `Stint by ${library}`,
  database,
  package: 'ours',
  settings: 'defaults',
  pace: 'fast',
  joinsTransactions: true,
  only: 'in a transaction',
  open: (location) => open(database, library, location),
});

/** Without pg, which the engine is measured with. */
export const stintByPostgresLibrary: readonly Peer[] = [
  'postgres.js that renames columns', 'Drizzle on pg', 'Drizzle on postgres.js', 'Kysely that renames columns', 'Knex', 'TypeORM', 'Prisma',
].map(stintBy('postgres'));
export const stintBySqliteDriver: readonly Peer[] = ['node:sqlite with 64-bit numbers'].map(stintBy('sqlite'));

/** Loads the packages only in the processes of their peers: the others must not start later and take more memory. */
async function libraryNamed(name: string): Promise<Library> {
  const { postgresLibraries } = await import('../../../test/transactions/postgres-libraries.ts');
  const { sqliteDrivers } = await import('../../../test/transactions/sqlite-drivers.ts');
  const library = [...postgresLibraries, ...sqliteDrivers].find((each) => each.name === name);
  if (!library) throw new Error(`no library has the name ${name}`);
  return library;
}

async function open(database: DatabaseName, libraryName: string, location: string): Promise<Queue> {
  const library = await libraryNamed(libraryName);
  const { Engine, jobType, typed } = await loadStint();
  const { unfinishedIn } = await import('../../unfinished.ts');
  let handle: Handle = () => {};
  const mail = jobType(queueName, { input: typed<Input>(), run: ({ input }) => handle(input) });
  const engine = new Engine({ store: database === 'sqlite' ? `sqlite:${location}` : location, types: [mail] });
  await engine.ready();
  let connected: Promise<Connected> | undefined;
  return {
    order: async (input) => {
      const application = await (connected ??= connect(database, library, location));
      return order<Tx>(
        (work) => application.transaction(work),
        (tx) => tx.write('a book'),
        (tx) => engine.in(tx.handle).createJobRun(mail, { input }),
      );
    },
    create: async (inputs) => void (await engine.createJobRuns(mail, inputs.map((input) => ({ input })))),
    work: async (start) => {
      handle = start;
      await engine.resume();
    },
    unfinished: () => unfinishedIn(engine.jobs.store),
    close: async () => {
      await engine.close();
      await (await connected)?.close();
    },
  };
}

const ownTable = 'create table own (text text)';

/** Creates the table of the application before the library connects. */
async function connect(database: DatabaseName, library: Library, location: string): Promise<Connected> {
  if (database === 'sqlite') {
    using db = new DatabaseSync(location, { timeout: 5_000 });
    db.exec(ownTable);
  } else {
    const client = new pg.Client({ connectionString: location });
    await client.connect();
    await client.query(ownTable);
    await client.end();
  }
  return library.connect(location);
}
