/** The conformance suite: what every store must do, as tests of vitest. For authors of adapters. */
import { describe, test } from 'vitest';
import { show, topics } from './examples.ts';
import { NotApplicable, type Open } from './world.ts';

export type { CallersTransaction, Open, Opened } from './world.ts';

export interface Conformance {
  /** Opens an empty, migrated store on the clock handed in. */
  readonly open: Open;
}

/** Defines the tests of one adapter. */
export function storeConformance(name: string, { open }: Conformance): void {
  describe(`${name} conforms`, () => {
    for (const topic of topics) {
      describe(topic.name, () => {
        for (const [title, example] of Object.entries(topic.examples)) {
          test(title, ({ skip }) => show(open, example).catch((error: unknown) => {
            if (error instanceof NotApplicable) skip(error.message);
            throw error;
          }));
        }
      });
    }
  });
}
