// Black-holed connections: all that are open stay open and carry nothing; new ones work.
import { expect, test } from 'vitest';
import { migratedDatabase } from '../support/fresh-database.ts';
import { openProxy } from '../support/proxy.ts';
import { Load, recoveryMaxMs } from './load.ts';

const rounds = ['all', 'answers', 'all', 'answers'] as const;

test('work goes on within lease + 5 s, nothing acknowledged is lost, and nothing was refused', async ({ task }) => {
  const directUrl = await migratedDatabase();
  const proxy = await openProxy(directUrl);
  try {
    const load = await Load.on(proxy.url);
    const resumedMs: number[] = [];
    for (const what of rounds) {
      proxy.swallow(what);
      resumedMs.push(Math.round(await load.untilStart()));
      await load.untilAcknowledged(100);
    }
    const wrong = await load.end(directUrl);
    task.meta.figures = load.figures('black holes', resumedMs);
    expect(wrong).toEqual([]);
    expect(load.refused).toEqual([]);
    expect(Math.max(...resumedMs)).toBeLessThan(recoveryMaxMs);
  } finally {
    proxy.close();
  }
});
