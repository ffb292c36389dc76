// Job types whose runs start child runs, on two levels.
import type { AnyJobType } from '../../src/engine/declare/job-type.ts';
import { jobType, type Context } from '../../src/index.ts';
import type { Draft } from '../../src/jobs/draft.ts';
import type { Clock } from '../../src/time/clock.ts';
import type { Ledger } from './workload.ts';

/** The type of the runs at the top, in the simulations that draw them. */
const familyType = 'family';

export const familyDraft: Draft =
  { type: familyType, policy: { attemptsMax: 3, timeoutMs: 120_000, onTaskFailure: { tolerate: 2 } } };

export interface FamilyParts {
  readonly clock: Clock;
  /** Records the start; returns a number in [0, 1) that depends only on the attempt. */
  readonly begin: (context: Context) => number;
  readonly ledger: Ledger;
}

const retry = { attempts: 2, base: '1s', max: '20s' } as const;
const childrenMax = 4;

export function familyTypes({ clock, begin, ledger }: FamilyParts): readonly AnyJobType[] {
  const leaf = jobType('leaf', {
    retry,
    run: async (context) => {
      const chance = begin(context);
      await clock.sleep(chance * 10_000, context.signal);
      context.signal.throwIfAborted();
      if (chance < 0.2) throw new Error('it did not work');
      return chance;
    },
  });
  /** Compares the children that the run gets with those that it has added. */
  const gather = (run: number, details: unknown, children: readonly { readonly fate: string }[]): number => {
    const { added } = details as { readonly added: number };
    ledger.gathered.push({ run, total: added, seen: children.length });
    return children.filter(({ fate }) => fate === 'succeeded').length;
  };
  const branch = jobType('branch', {
    retry,
    run: async (context) => {
      const added = Math.floor(begin(context) * childrenMax);
      for (let count = 0; count < added; count++) context.children.add(leaf);
      return { added };
    },
    jobResults: ({ run, details, children }) => gather(run.id, details, children.all),
  });
  const family = jobType(familyType, {
    retry,
    onTaskFailure: { tolerate: 2 },
    run: async (context) => {
      const chance = begin(context);
      await clock.sleep(chance * 3_000, context.signal);
      const added = Math.floor(chance * childrenMax);
      for (let count = 0; count < added; count++) context.children.add(count % 2 === 0 ? branch : leaf);
      return { added };
    },
    jobResults: ({ run, details, children }) => gather(run.id, details, children.all),
  });
  return [leaf, branch, family];
}
