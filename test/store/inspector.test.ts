// The process that executes users' SQL: what it refuses, and what happens when it is killed.
import { fork, type ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newJob } from '../../src/conformance/world.ts';
import { PostgresStore } from '../../src/store/postgres/store.ts';
import { SqliteStore } from '../../src/store/sqlite/store.ts';
import type { Store } from '../../src/store/store.ts';
import { migratedDatabase } from '../support/fresh-database.ts';

const limits = { rowsMax: 10, timeMs: 60_000 };

async function openStore(kind: string): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'stint-test-'));
  const store = kind === 'sqlite' ? new SqliteStore(join(folder, 'jobs.db')) : new PostgresStore(await migratedDatabase(), { notify: false });
  await store.migrate();
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

/** Collects the processes that this process starts during the test. */
function startedProcesses(): ChildProcess[] {
  const children: ChildProcess[] = [];
  const add = (message: unknown): void => void children.push((message as { process: ChildProcess }).process);
  subscribe('child_process', add);
  onTestFinished(() => void unsubscribe('child_process', add));
  return children;
}

describe.each(['sqlite', 'postgres'])('a query on %s', (kind) => {
  test('that makes or reads too large a text is refused as costly', async () => {
    const store = await openStore(kind);
    const costly = { name: 'Refusal', code: 'costly.query' };
    await expect(store.inspect!(`SELECT hex(zeroblob(3000000))`, limits)).rejects.toMatchObject(costly);
    const input = JSON.stringify('x'.repeat(5_000_000));
    await store.commit({ changes: [newJob({ id: 1, kind: 'bedrock', type: 'large', input, created: 5 })] });
    await expect(store.inspect!(`SELECT data FROM jobs`, limits)).rejects.toMatchObject(costly);
    expect(await store.inspect!(`SELECT name FROM jobs`, limits)).toMatchObject({ rows: [['large']] });
  });

  test('is answered although its process was killed before', async () => {
    const children = startedProcesses();
    const store = await openStore(kind);
    const ask = async (): Promise<unknown> => (await store.inspect!('SELECT 1', limits)).rows;
    expect(await ask()).toEqual([[1]]);
    const [child] = children;
    const answered = once(child!, 'exit').then(ask);
    process.kill(child!.pid!, 'SIGKILL');
    expect(await answered).toEqual([[1]]);
    expect(children).toHaveLength(2);
  });
});

test('a process that has refused the rows of a query gives no second answer', async () => {
  const child = fork(new URL('../../src/store/inspection/inspector.ts', import.meta.url), { serialization: 'advanced' });
  const reports: unknown[] = [];
  child.on('message', (report) => {
    reports.push(report);
    const { kind } = report as { kind: string };
    if (kind === 'ready') child.send({ kind: 'query', sql: 'SELECT data FROM jobs', rowsMax: 10, rows: 'sent' });
    if (kind !== 'needs') return;
    child.send({ kind: 'rows', text: JSON.stringify([[1, ['x'.repeat(5_000_000), 0, null]]]) });
    child.send({ kind: 'allSent' });
  });
  await once(child, 'exit');
  expect(reports).toMatchObject([{ kind: 'ready' }, { kind: 'needs' }, { kind: 'refused', code: 'costly.query' }]);
});
