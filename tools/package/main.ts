/**
 * Makes the package that is published, in a folder of its own: `npm run package [folder]`. Node does not strip types
 * below node_modules, so it has compiled JavaScript; in the repository the sources run as they are. `npm pack` and
 * `npm publish` then take that folder.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { builtFolder, buildIfStale } from '../../dashboard/build.ts';

const root = join(import.meta.dirname, '..', '..');
const shipped = ['bin', 'README.md', 'CHANGELOG.md', 'LICENSE'];

async function main(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(join(folder, 'dist'));
  await buildIfStale();
  cpSync(builtFolder, join(folder, 'dist', 'dashboard'), { recursive: true });
  for (const name of shipped) cpSync(join(root, name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  console.log(folder);
}

function compile(folder: string): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const words = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder];
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit' });
}

type Entry = string | { readonly types: string; readonly default: string };
type Manifest = Record<string, unknown> & { readonly exports: Record<string, Entry> };

/** Without what only the repository needs, and with each entry where it is compiled. */
function manifest(): Manifest {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const {
    scripts: _s,
    devDependencies: _d,
    workspaces: _w,
    allowScripts: _a,
    overrides: _o,
    private: _p,
    ...kept
  } = JSON.parse(text) as Manifest;
  return {
    ...kept,
    exports: Object.fromEntries(Object.entries(kept.exports).map(([name, entry]) => [name, compiled(entry)])),
  };
}

function compiled(entry: Entry): Entry {
  if (typeof entry === 'string') return entry;
  const script = entry.default.replace(/^\.\/src\/(.+)\.ts$/, './dist/$1.js');
  return { types: script.replace(/\.js$/, '.d.ts'), default: script };
}

await main(resolve(process.argv[2] ?? join(root, 'artifacts', 'package')));
