// Every command in every state, for every sort of job, gives the reply of matrix.ts.
import { expect } from 'vitest';
import { bedrockStates } from '../../src/vocabulary/bedrock.ts';
import { bySize } from '../support/size.ts';
import { matrix } from './matrix.ts';
import { ask, cellsOf, subjectOf, wordFor, type Sort } from './matrix-recipes.ts';
import { both } from './world.ts';

const sorts = Object.keys(matrix) as Sort[];
/** Where the two stores differ most: families. */
const onPostgres = bySize<readonly Sort[]>({ small: ['parent'], ci: ['child', 'parent'] });

for (const { name, test } of both) {
  for (const sort of name === 'SQLite' ? sorts : onPostgres) {
    const title = `every command answers as it should for a ${sort} job in every state, on ${name}`;
    test(title, async ({ world }) => {
      const cells = cellsOf(sort, bedrockStates).filter(({ expected }) => expected !== 'impossible');
      const found: string[] = [];
      for (const cell of cells) {
        const subject = await subjectOf(world, cell);
        const answer = await ask(world, cell.verb, subject);
        found.push(`${cell.verb} ${cell.state}: ${await wordFor(world, cell, subject, answer)}`);
      }
      expect(found).toEqual(cells.map(({ verb, state, expected }) => `${verb} ${state}: ${expected}`));
    });
  }
}
