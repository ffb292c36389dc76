/** The conformance suite: the tests that every store must pass, for vitest. For authors of adapters. */
import { equal } from 'node:assert/strict';
import { describe, test } from 'vitest';
import { show, topics } from './examples.ts';
import { checkQueries } from './queries.ts';
import { checkRaces } from './races.ts';
import { checkHistories } from './random-histories.ts';
import { NotApplicable, type Open } from './world.ts';

export type { CallersTransaction, Open, Opened } from './world.ts';

export interface Conformance {
  /** Opens an empty, migrated store that uses the given clock. */
  readonly open: Open;
  /** Whether the examples run. Default: true. */
  readonly examples?: boolean;
  /** How many random histories (sequences of moves) are compared with the memory store; 0: none. Default: 500. */
  readonly histories?: number;
  /** How many queries are compared with the reference implementation; 0: only those of the examples. Default: 1,000. */
  readonly queries?: number;
  /** How many times eight connections race each other in real time; 0: never. Default: 8. */
  readonly races?: number;
}

/** Histories, queries and races have no timeout: how long they take depends on their number and on the database. */
const noLimit = { timeout: Infinity };

/** The situations that must occur in 500 random histories; if one does not, the histories prove too little. */
const goals: readonly string[] = [
  'created', 'claimed', 'released', 'lapsed', 'retried', 'handedOff', 'planned', 'adopted', 'settled', 'freed',
  'paused', 'resumed', 'cancelAsked', 'succeeded', 'failed', 'cancelled', 'repeated', 'reopened', 'edited', 'deleted',
  'a change refused', 'a whole batch refused',
];

/** Defines the tests of one adapter; `name` is the name of the adapter in the titles of the tests. */
export function storeConformance(name: string, given: Conformance): void {
  const { open, examples = true, histories = 500, queries = 1_000, races = 8 } = given;
  describe(`${name} conforms`, () => {
    for (const topic of examples ? topics : []) {
      describe(topic.name, () => {
        for (const [title, example] of Object.entries(topic.examples)) {
          test(title, ({ skip }) => show(open, example).catch((error: unknown) => {
            if (error instanceof NotApplicable) skip(error.message);
            throw error;
          }));
        }
      });
    }
    test.runIf(histories > 0)(
      `${histories} random histories go as in the memory store, and replay`,
      noLimit,
      async () => {
        const met = await checkHistories(open, { count: histories });
        if (histories >= 500) equal(goals.filter((goal) => !met.has(goal)).join(), '', 'each of these must be met');
      },
    );
    test.runIf(queries > 0)(
      `${queries} queries find the same jobs as the reference implementation`,
      noLimit,
      () => show(open, (world) => checkQueries(world, queries)),
    );
    test.runIf(races > 0)(
      `eight connections race each other ${races} times, and every history replays`,
      noLimit,
      async () => {
        for (let count = 0; count < races; count += 1) await checkRaces(open);
      },
    );
  });
}
