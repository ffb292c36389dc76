// Flows in the caller's transaction: they exist, and start, if and when it commits.
import { describe, expect, onTestFinished, test } from 'vitest';
import { Engine, jobType, typed } from '../../src/index.ts';
import { systemClock } from '../../src/time/clock.ts';
import { waitMs } from '../support/patience.ts';
import { stores } from '../support/stores.ts';

const count = jobType('count', { run: () => ({ rows: 2 }) });
const report = jobType('report', { input: typed<{ rows: number }>(), run: ({ input }) => input.rows * 10 });

describe.each(stores.filter(({ name }) => name !== 'memory'))('on $name', (kind) => {
  test('a rollback leaves nothing of a flow, and a commit starts it', async () => {
    const opened = await kind.open(systemClock);
    const engine = new Engine({ store: opened.store, types: [count, report] });
    onTestFinished(async () => {
      await engine.close({ patience: '1s' });
      await opened.close();
    });
    await engine.resume();
    const existing = await engine.createJobRun(count);
    const create = async (how: 'commit' | 'rollback') => {
      const { transaction, [how]: end } = await opened.begin!();
      const flow = await engine.in(transaction).createFlow((f) => {
        f.run(report, { input: { rows: f.run(count).result.rows }, after: existing });
      });
      await end();
      return flow;
    };
    await existing.result({ timeout: `${waitMs}ms` });

    const lost = await create('rollback');
    expect(await opened.store.load(lost.runs.map(({ id }) => id))).toEqual([]);
    expect(await opened.store.edges({ followed: existing.id, limit: 1 })).toEqual([]);
    expect(await engine.flows()).toEqual([]);

    const flow = await create('commit');
    expect(await flow.runs[1]!.result({ timeout: `${waitMs}ms` })).toBe(20);
  });
});
