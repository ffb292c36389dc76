/**
 * Claims after a growing number of jobs was created and finished without a VACUUM: their dead rows stay until autovacuum
 * removes them, and cannot be removed while another transaction is open.
 */
import type { ScratchDatabase } from '../database.ts';
import { drafts, ownName } from '../payload.ts';
import type { Fixture } from '../fixture.ts';
import type { Case, Workload } from '../workload.ts';
import { measureClaims } from './backlog.ts';

const batch = 1_000;

export const scaleDeadTuples = churn('scale dead tuples', 'gone through', async () => {});

export const scaleIdleTransaction = churn(
  'scale idle transaction', 'beside an idle transaction', (scratch) => scratch.openIdleTransaction(),
);

function churn(name: string, what: string, begin: (scratch: ScratchDatabase) => Promise<void>): Workload {
  return {
    name,
    isLong: true,
    cases: ({ scale: { churned, jobs } }) => {
      const after = (count: number, prepare: Case['prepare']): Case => ({
        title: `claims after ${count.toLocaleString('en')} ${what}`,
        params: { churned: count },
        isBase: count === 0,
        skipsCleanUp: count > 0,
        ...(prepare ? { prepare } : {}),
        measure: (fixture) => measureClaims(fixture, jobs),
      });
      const steps = churned.map((count, index) =>
        after(count, async (fixture) => {
          if (index === 0) await begin(fixture.scratch);
          await churnJobs(fixture, count - (churned[index - 1] ?? 0));
        }));
      return [after(0, undefined), ...steps];
    },
  };
}

async function churnJobs({ target }: Fixture, jobs: number): Promise<void> {
  for (let left = jobs; left > 0; left -= batch) {
    const some = Math.min(left, batch);
    await target.create(drafts(some));
    await target.finish(await target.claim(ownName, some));
  }
}
