/** Writes RESULTS.md: the sections that were measured; the others stay as they are. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownOf, type Results } from './markdown.ts';
import { withFormerSections } from './sections.ts';

export const resultsFolder = join(import.meta.dirname, '..');

const nothing: Results = { bench: null, peers: null, bedrock: null, charts: [] };

export function writeResults(results: Partial<Results>, into = resultsFolder): void {
  const page = join(into, 'RESULTS.md');
  const former = existsSync(page) ? readFileSync(page, 'utf8') : '';
  writeFileSync(page, withFormerSections(markdownOf({ ...nothing, ...results }), former));
}
