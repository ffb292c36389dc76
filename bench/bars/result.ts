/** The time from the end of a run in another process to the return of `result()`, beside a caller that only polls. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Engine, openStore } from '../../src/index.ts';
import type { Store } from '../../src/store/store.ts';
import type { Database } from '../database.ts';
import { storeUrl } from '../workloads/scale-keys.ts';
import type { Bar } from './bar.ts';
import { percentile } from './beside.ts';
import { preciseNow, runMs, timed } from './result-type.ts';
import type { BarSizes } from './sizes.ts';

export async function result(database: Database, { requests }: BarSizes): Promise<readonly Bar[]> {
  const scratch = await database.createScratch('ours', true);
  const url = storeUrl(scratch.address);
  await using woken = new Engine({ store: url });
  await using polling = new Engine({ store: withoutEnds(openStore(url)) });
  await woken.ready();
  const worker = fork(new URL('./result-worker.ts', import.meta.url), [url]);
  try {
    await once(worker, 'message');
    const [wakes, polls] = await Promise.all([latencies(woken, requests), latencies(polling, requests)]);
    const at = (ms: readonly number[], share: number): string => percentile(ms, share).toFixed(1);
    return [{
      database: database.name, unit: 'ms', value: percentile(wakes, 0.5), bar: { most: 50 },
      title: 'result() after the end in another process, p50',
      from: `p99 ${at(wakes, 0.99)} ms; by polling p50 ${at(polls, 0.5)} ms, p99 ${at(polls, 0.99)} ms`,
    }];
  } finally {
    const ended = once(worker, 'exit');
    worker.kill('SIGTERM');
    await ended;
    await woken.close();
    await polling.close();
    await scratch.remove();
  }
}

/** Starts runs at intervals, so that they end one after another; returns the delay of each result. */
async function latencies(engine: Engine, count: number): Promise<number[]> {
  const runs: Promise<number>[] = [];
  for (let started = 0; started < count; started += 1) {
    runs.push(latency(engine));
    await new Promise((resolve) => setTimeout(resolve, (3 * runMs) / count));
  }
  return Promise.all(runs);
}

async function latency(engine: Engine): Promise<number> {
  const run = await engine.createJobRun(timed);
  const endedAt = await run.result({ timeout: '60s' });
  return preciseNow() - endedAt;
}

const withoutEnds = (store: Store): Store =>
  new Proxy(store, {
    get(target, name) {
      if (name === 'onEnd') return undefined;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member as (...values: unknown[]) => unknown).bind(target) : member;
    },
  });
