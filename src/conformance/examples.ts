/** All topics of the suite, and how to run an example without a test runner. */
import { ahead } from './queue-position.ts';
import { claim } from './claim.ts';
import { claimedTogether } from './claimed-together.ts';
import { definitionVersions } from './definition-versions.ts';
import { fairness } from './fairness.ts';
import { family } from './family.ts';
import { find } from './find.ts';
import { following } from './following.ts';
import { gates } from './gates.ts';
import { guard } from './guard.ts';
import { history } from './history.ts';
import { inbox } from './inbox.ts';
import { insert } from './insert.ts';
import { instances } from './instances.ts';
import { latest } from './latest-runs.ts';
import { leader } from './leader.ts';
import { leases } from './leases.ts';
import { limits } from './limits.ts';
import { memos } from './memos.ts';
import { notes } from './notes.ts';
import { output } from './output.ts';
import { pauses } from './pauses.ts';
import { spreads } from './spreads.ts';
import { purge } from './purge.ts';
import { schema } from './schema.ts';
import { steps } from './steps.ts';
import { unique } from './unique.ts';
import { versions } from './versions.ts';
import { within } from './caller-transaction.ts';
import { NotApplicable, World, type Example, type Open, type Topic } from './world.ts';

export const topics: readonly Topic[] = [
  schema, insert, guard, claim, claimedTogether, gates, limits, fairness, ahead, unique, leases, family, following, find,
  definitionVersions, latest, history, notes, output, steps, instances, leader, purge, inbox, memos, within, pauses, spreads, versions,
];

export async function show(open: Open, example: Example): Promise<void> {
  const world = await World.open(open);
  try {
    await example(world);
  } finally {
    await world.close();
  }
}

export interface ExampleFinding {
  readonly topic: string;
  readonly title: string;
  readonly error: unknown;
}

/** Runs every example of the topics; returns the examples that fail, with their errors. */
export async function findings(open: Open, tried: readonly Topic[] = topics): Promise<ExampleFinding[]> {
  const found: ExampleFinding[] = [];
  for (const { name: topic, examples } of tried) {
    for (const [title, example] of Object.entries(examples)) {
      try {
        await show(open, example);
      } catch (error) {
        if (!(error instanceof NotApplicable)) found.push({ topic, title, error });
      }
    }
  }
  return found;
}
