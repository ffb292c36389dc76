/**
 * Claims after more and more jobs have gone through the same store with no rest in between: their dead rows lie about
 * until the database cleans up by itself, and cannot be cleaned up while a transaction is open elsewhere.
 */
import type { Ground } from '../engine.ts';
import { drafts, ownName } from '../payload.ts';
import type { Stand } from '../stand.ts';
import type { Case, Workload } from '../workload.ts';
import { claimed } from './backlog.ts';

const batch = 1_000;

export const scaleDeadTuples = churn('scale dead tuples', 'gone through', async () => {});

export const scaleIdleTransaction = churn(
  'scale idle transaction', 'beside an idle transaction', (ground) => ground.occupy(),
);

function churn(name: string, what: string, begin: (ground: Ground) => Promise<void>): Workload {
  return {
    name,
    isLong: true,
    cases: ({ scale: { churned, jobs } }) => {
      const after = (count: number, prepare: Case['prepare']): Case => ({
        title: `claims after ${count.toLocaleString('en')} ${what}`,
        params: { churned: count },
        isBase: count === 0,
        isRestless: count > 0,
        ...(prepare ? { prepare } : {}),
        measure: (stand) => claimed(stand, jobs),
      });
      const steps = churned.map((count, index) =>
        after(count, async (stand) => {
          if (index === 0) await begin(stand.ground);
          await goThrough(stand, count - (churned[index - 1] ?? 0));
        }));
      return [after(0, undefined), ...steps];
    },
  };
}

async function goThrough({ contender }: Stand, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= batch) {
    const some = Math.min(left, batch);
    await contender.create(drafts(some));
    await contender.finish(await contender.claim(ownName, some));
  }
}
