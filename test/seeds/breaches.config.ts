// How the tests of the seeds run on a breach: its cuts are planted in the source as vitest loads it, and in processes
// that a test starts by test/mutants/plant.ts.
import type { VitestPluginContext } from 'vitest/node';
import { mergeConfig } from 'vitest/config';
import base from '../support/config.ts';
import type { Cut } from '../mutants/mutants.ts';
import { slowness } from '../support/patience.ts';

const cuts = JSON.parse(process.env['STINT_MUTANT'] ?? '[]') as readonly Cut[];

const isCut = (id: string): boolean => cuts.some(({ file }) => id.endsWith(`/${file}`));

const planted = {
  name: 'breach',
  enforce: 'pre' as const,
  /** What is cut must neither come from the cache of transformed modules nor go there. */
  configureVitest({ defineCacheKeyGenerator }: VitestPluginContext): void {
    defineCacheKeyGenerator(({ id }) => (isCut(id) ? false : undefined));
  },
  transform(code: string, id: string): string | null {
    if (!isCut(id)) return null;
    const mine = cuts.filter(({ file }) => id.endsWith(`/${file}`));
    return mine.reduce((text, { from, to }) => text.split(from).join(to), code);
  },
};

const merged = mergeConfig(base, { plugins: [planted] });
merged.test!.globalSetup = ['test/seeds/shared-postgres.ts'];
merged.test!.reporters = ['json'];
// A breach may keep a test from ending; that is a failure too.
merged.test!.testTimeout = 30_000 * slowness;

export default merged;
