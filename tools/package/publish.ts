/**
 * Publishes the package with provenance: `node tools/package/publish.ts [--dry-run]`. Refuses to publish what the
 * checklist of docs/release.md has left open.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'artifacts', 'package');
const needed = ['repository', 'homepage', 'bugs'];

function main(isRehearsal: boolean): void {
  execFileSync(process.execPath, [join(import.meta.dirname, 'main.ts'), folder], { stdio: 'inherit' });
  const open = openPoints();
  if (open.length > 0) console.error(`open in tools/package/release.json: ${open.join(', ')}`);
  if (open.length > 0 && !isRehearsal) process.exit(1);
  // npm makes provenance only with an identity token of CI, so that a rehearsal leaves it out.
  const words = isRehearsal ? ['--dry-run'] : ['--provenance'];
  execFileSync('npm', ['publish', folder, '--access', 'public', ...words], { stdio: 'inherit' });
}

function openPoints(): string[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>;
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const isDated = new RegExp(`^## \\[${RegExp.escape(String(manifest['version']))}\\] - \\d{4}-`, 'm').test(changelog);
  return [...needed.filter((name) => !(name in manifest)), ...(isDated ? [] : ['a dated section of CHANGELOG.md'])];
}

main(process.argv.includes('--dry-run'));
