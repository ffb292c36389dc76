/** The digest of the chart's files. The rendered copy of the chart has it in its first line. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

export function renderedFirstLine(): string {
  const hash = createHash('sha256');
  const paths = globSync('deploy/helm/stint/**/*.{yaml,tpl,json,txt}', { cwd: root }).sort();
  for (const path of paths) hash.update(readFileSync(join(root, path)));
  return `# Made by the proof of the chart; its files: ${hash.digest('hex')}`;
}
