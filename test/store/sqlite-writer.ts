// A process that creates a job on request, in the requested way.
import { DatabaseSync } from 'node:sqlite';
import { Jobs } from '../../src/jobs.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';

const path = process.argv[2]!;
const jobs = new Jobs(new SqliteStore(path));
const own = new DatabaseSync(path);
own.exec('PRAGMA synchronous=FULL');

async function create(way: string): Promise<void> {
  const drafts = [{ type: 'mail' }];
  if (way === 'by its store') {
    await jobs.createMany(drafts, 'test');
    return;
  }
  own.exec('BEGIN IMMEDIATE');
  await jobs.createWithin(own, drafts, 'test');
  own.exec('COMMIT');
}

process.on('message', (way: string) => void create(way).then(() => process.send!('done')));
process.send!('ready');
