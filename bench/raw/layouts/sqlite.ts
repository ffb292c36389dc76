/**
 * Compares layouts of the tables on SQLite: `node bench/raw/layouts/sqlite.ts --jobs 20000 --rounds 3 --sizes 100,1000`.
 * Each round measures all layouts in turn, each in an empty file with `synchronous=FULL`. Printed for each step: CPU time
 * and bytes of WAL a job. Jobs are created, claimed and ended in batches, each batch in one transaction, with a full
 * history and an entry in the feed. The indexes of each table are those that serve claims, lists and purges of plain runs;
 * the partial ones, in which these runs are not, are left out on both sides.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { median } from '../../median.ts';
import { input } from '../../payload.ts';
import { totalUs } from '../../stopwatch.ts';
import {
  claimedBody, claimedLine, createdBody, createdLine, endedBody, feedText, holder, succeededLine, type,
} from './layout.ts';

type Run = (sql: string, ...values: SQLInputValue[]) => unknown[];

interface Layout {
  readonly name: string;
  readonly schema: string;
  create(run: Run, ids: readonly number[]): void;
  /** Returns what `end` needs of each claim. */
  claim(run: Run, limit: number): { readonly ids: readonly number[]; readonly claim: number };
  end(run: Run, ids: readonly number[], claim: number): void;
}

const endedTable = (body: string): string => `
  CREATE TABLE ended(id INTEGER PRIMARY KEY, version INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, def TEXT,
    parent INTEGER, created INTEGER NOT NULL, fate TEXT NOT NULL, ended_at INTEGER NOT NULL, purge_at INTEGER, result TEXT,
    ${body}, history TEXT NOT NULL) STRICT;
  CREATE INDEX ended_type ON ended(type, id) WHERE kind <> 'task';
  CREATE INDEX ended_top ON ended(id) WHERE kind <> 'task';
  CREATE INDEX ended_past ON ended(ended_at) WHERE parent IS NULL AND purge_at IS NULL;
  CREATE TABLE feed(seq INTEGER PRIMARY KEY, at INTEGER NOT NULL, events TEXT NOT NULL) STRICT`;

const openColumns = `version INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL, def TEXT, parent INTEGER,
  created INTEGER NOT NULL, state TEXT NOT NULL, hold TEXT, phase TEXT NOT NULL, priority INTEGER NOT NULL,
  due INTEGER NOT NULL, fence INTEGER NOT NULL, holder TEXT, lease_until INTEGER, gate TEXT, lane INTEGER NOT NULL`;

const laneIndex = 'CREATE INDEX job_lane ON job(kind, type, priority DESC, due, id) WHERE lane = 1';
const waiting = `kind = 'run' AND type = '${type}' AND priority = 0 AND lane = 1 AND due <= ?`;

/** A statement that inserts up to 64 rows of an id and an input, with these other values. */
const insertion = (table: string, others: string, values: string, rows: number): string =>
  `INSERT INTO ${table}(id, input, ${others}) SELECT column1, column2, ${values} FROM (VALUES ${Array(rows).fill('(?, ?)').join(', ')})`;

function insertAll(run: Run, table: string, others: string, values: string, ids: readonly number[], at: number): void {
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50);
    const own = some.flatMap((id) => [id, JSON.stringify(input())]);
    run(insertion(table, others, values, some.length), at, at, createdBody(at), createdLine(at), ...own);
  }
}

const addToFeed = (run: Run, at: number, line: string, ids: readonly number[]): unknown =>
  run('INSERT INTO feed(at, events) VALUES(?, ?)', at, feedText(line, ids));

/** The layout of the store: a claim updates the wide row, an end moves it to the table of ended jobs. */
const today: Layout = {
  name: 'today',
  schema: `CREATE TABLE job(id INTEGER PRIMARY KEY, ${openColumns}, input TEXT NOT NULL, body TEXT NOT NULL,
      history TEXT NOT NULL) STRICT;
    ${laneIndex};
    CREATE INDEX job_running ON job(holder, lease_until) WHERE state = 'running';
    ${endedTable('input TEXT NOT NULL, body TEXT NOT NULL')}`,
  create(run, ids) {
    const at = Date.now();
    const names = 'created, due, body, history, version, kind, type, state, phase, priority, fence, lane';
    insertAll(run, 'job', names, `?, ?, ?, ?, 1, 'run', '${type}', 'pending', 'run', 0, 0, 1`, ids, at);
    addToFeed(run, at, createdLine(at), ids);
  },
  claim(run, limit) {
    const at = Date.now();
    const found = run(`SELECT id, version, priority, due, fence, type, phase, parent, created, kind, def, gate, input, body
      FROM job WHERE ${waiting} ORDER BY due, id LIMIT ?`, at, limit) as SQLInputValue[][];
    const ids = found.map(([id]) => Number(id));
    run(`UPDATE job SET version = 2, fence = 1, lane = 0, state = 'running', holder = ?, body = ?,
      history = history || char(10) || ? WHERE version = 1 AND id IN (SELECT value FROM json_each(?)) RETURNING id`,
    holder, claimedBody(at), claimedLine(at), JSON.stringify(ids));
    if (ids.length > 0) addToFeed(run, at, claimedLine(at), ids);
    return { ids, claim: 0 };
  },
  end(run, ids) {
    const at = Date.now();
    const list = JSON.stringify(ids);
    run(`INSERT INTO ended(id, version, kind, type, def, parent, created, fate, ended_at, input, body, history)
      SELECT id, 3, kind, type, def, parent, created, 'succeeded', ?, input, ?, history || char(10) || ?
      FROM job WHERE version = 2 AND id IN (SELECT value FROM json_each(?)) RETURNING id`,
    at, endedBody(at), succeededLine(at), list);
    run('DELETE FROM job WHERE id IN (SELECT value FROM json_each(?))', list);
    addToFeed(run, at, succeededLine(at), ids);
  },
};

/** The layout of the PostgreSQL store: the wide row stays in `origin`, jobs that are claimed together have one row. */
const once: Layout = {
  name: 'once',
  schema: `CREATE TABLE origin(id INTEGER PRIMARY KEY, version INTEGER NOT NULL, kind TEXT NOT NULL, type TEXT NOT NULL,
      def TEXT, parent INTEGER, created INTEGER NOT NULL, due INTEGER NOT NULL, input TEXT NOT NULL, body TEXT NOT NULL,
      history TEXT NOT NULL) STRICT;
    CREATE TABLE job(id INTEGER PRIMARY KEY, ${openColumns}) STRICT;
    ${laneIndex};
    CREATE TABLE claim(id INTEGER PRIMARY KEY, remaining INTEGER NOT NULL, holder TEXT NOT NULL, ids TEXT NOT NULL,
      line TEXT NOT NULL) STRICT;
    ${endedTable('input TEXT, body TEXT NOT NULL')}`,
  create(run, ids) {
    const at = Date.now();
    insertAll(run, 'origin', 'created, due, body, history, version, kind, type', `?, ?, ?, ?, 1, 'run', '${type}'`, ids, at);
    run(`INSERT INTO job(id, version, kind, type, created, state, phase, priority, due, fence, lane)
      SELECT value, 1, 'run', '${type}', ?1, 'pending', 'run', 0, ?1, 0, 1 FROM json_each(?2)`, at, JSON.stringify(ids));
    addToFeed(run, at, createdLine(at), ids);
  },
  claim(run, limit) {
    const at = Date.now();
    const found = run(`SELECT job.id, job.version, priority, job.due, fence, job.type, phase, job.parent, job.created,
        job.kind, job.def, gate, input, body
      FROM job CROSS JOIN origin USING (id) WHERE job.${waiting.replaceAll(' AND ', ' AND job.')}
      ORDER BY job.due, job.id LIMIT ?`, at, limit) as SQLInputValue[][];
    const ids = found.map(([id]) => Number(id));
    if (ids.length === 0) return { ids, claim: 0 };
    const list = JSON.stringify(ids);
    run('DELETE FROM job WHERE version = 1 AND id IN (SELECT value FROM json_each(?))', list);
    const [[claim]] = run('INSERT INTO claim(remaining, holder, ids, line) VALUES(?, ?, ?, ?) RETURNING id',
      ids.length, holder, list, claimedLine(at)) as [[number]];
    addToFeed(run, at, claimedLine(at), ids);
    return { ids, claim };
  },
  end(run, ids, claim) {
    const at = Date.now();
    const lines = `${claimedLine(at)}\n${succeededLine(at)}`;
    run(`INSERT INTO ended(id, version, kind, type, created, fate, ended_at, body, history)
      SELECT value, 3, 'run', '${type}', ?1, 'succeeded', ?1, ?2, ?3 FROM json_each(?4)`,
    at, endedBody(at), lines, JSON.stringify(ids));
    run('UPDATE claim SET remaining = remaining - ? WHERE id = ?', ids.length, claim);
    run('DELETE FROM claim WHERE id = ? AND remaining = 0', claim);
    addToFeed(run, at, succeededLine(at), ids);
  },
};

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    sizes: { type: 'string', default: '100,1000' },
  },
});
const [jobs, rounds] = [Number(options.jobs), Number(options.rounds)];
const figures = new Map<string, { us: number[]; walBytes: number[] }>();

for (let round = 0; round < rounds; round += 1) {
  for (const layout of round % 2 === 0 ? [today, once] : [once, today]) {
    for (const size of options.sizes.split(',').map(Number)) measureLayout(layout, size);
  }
}
for (const [step, { us, walBytes }] of figures) {
  const all = us.map((each) => each.toFixed(1)).join(' ');
  console.log(`${step.padEnd(24)} ${median(us).toFixed(1).padStart(6)} µs (${all}), ${median(walBytes).toFixed(0)} bytes of WAL`);
}

function measureLayout(layout: Layout, size: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'stint-bench-'));
  const path = join(folder, 'jobs.db');
  const db = new DatabaseSync(path);
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16384; PRAGMA wal_autocheckpoint=0');
  db.exec(layout.schema);
  const statements = new Map<string, ReturnType<DatabaseSync['prepare']>>();
  const run: Run = (sql, ...values) => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statements.set(sql, statement = db.prepare(sql));
      statement.setReturnArrays(true);
    }
    return statement.all(...values);
  };
  const together = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE');
    const answer = work();
    db.exec('COMMIT');
    return answer;
  };
  let first = 1;
  const create = (count: number): void => {
    for (const end = first + count; first < end; first += size) {
      together(() => layout.create(run, Array.from({ length: size }, (_, index) => first + index)));
    }
  };
  const drain = (count: number): void => {
    for (let left = count; left > 0; left -= size) {
      const { ids, claim } = together(() => layout.claim(run, size));
      if (ids.length !== size) throw new Error(`${ids.length} jobs were claimed instead of ${size}`);
      together(() => layout.end(run, ids, claim));
    }
  };
  const watch = (step: string, work: (count: number) => void): void => {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    const before = process.cpuUsage();
    work(jobs);
    const us = totalUs(process.cpuUsage(before)) / jobs;
    const known = figures.get(`${step} ${size}, ${layout.name}`) ?? { us: [], walBytes: [] };
    figures.set(`${step} ${size}, ${layout.name}`, known);
    known.us.push(us);
    known.walBytes.push(statSync(`${path}-wal`).size / jobs);
  };
  create(2_000);
  drain(2_000);
  watch('create', create);
  watch('drain', drain);
  db.close();
  rmSync(folder, { recursive: true });
}
