// A process that races others on one SQLite file, and prints the events that were acknowledged to it.
import { seededRandom } from '../../src/random.ts';
import { Ledger } from '../../src/conformance/ledger.ts';
import { Racer } from '../../src/conformance/races.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

const [path, seed, turns] = process.argv.slice(2) as [string, string, string];
const store = new SqliteStore(path, { durability: 'normal' });
await store.migrate();
const ledger = new Ledger();
await new Racer(`process ${process.pid}`, store, ledger, seededRandom(Number(seed))).run(Number(turns));
await store.close();
process.stdout.write(JSON.stringify(ledger.acknowledged()));
