/** Sets the version of the package in all places that contain it: `node tools/package/set-version.ts 0.2.0`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderedFirstLine } from './chart-digest.ts';
import { versionPaths, withVersion } from './version-places.ts';

const root = join(import.meta.dirname, '..', '..');
const rendered = 'test/deploy/rendered.yaml';

function main(version: string | undefined): void {
  if (version === undefined || !/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name the version, such as 0.2.0');
  for (const path of versionPaths) edit(path, (text) => withVersion(path, text, version));
  // The chart contains the version, so its rendered copy has another digest.
  edit(rendered, (text) => text.replace(/^.*/, renderedFirstLine()));
}

function edit(path: string, change: (text: string) => string): void {
  writeFileSync(join(root, path), change(readFileSync(join(root, path), 'utf8')));
}

main(process.argv[2]);
