/**
 * Makes the package that is published, in a folder of its own: `npm run package [folder]`. Node does not strip types
 * below node_modules, so it has compiled JavaScript; in the repository the sources run as they are. `npm pack` and
 * publish.ts then take that folder.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { builtFolder, buildIfStale } from '../../dashboard/build.ts';
import { billOfMaterials } from './bill-of-materials.ts';

const root = join(import.meta.dirname, '..', '..');
const shipped = ['bin', 'docs', 'README.md', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'llms.txt'];

async function main(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(join(folder, 'dist'));
  await buildIfStale();
  cpSync(builtFolder, join(folder, 'dist', 'dashboard'), { recursive: true });
  for (const name of shipped) cpSync(join(root, name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
  writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials(root, manifest()));
  console.log(folder);
}

function compile(folder: string): void {
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  // Source maps would name sources that the package does not contain.
  const words = [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', folder, '--sourceMap', 'false'];
  execFileSync(process.execPath, words, { cwd: root, stdio: 'inherit' });
}

/** A checkout needs Node 24: its sources contain `await using`, which the build does not. */
const publishedEngines = { node: '^22.23.0 || >=24.15.0' };

type Entry = string | { readonly types: string; readonly default: string };
type Manifest = Record<string, unknown> & {
  readonly name: string;
  readonly dependencies: Record<string, string>;
  readonly exports: Record<string, Entry>;
};

/** Without what only the repository needs; with each entry where it is compiled, and the addresses of a release. */
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
  const addresses = JSON.parse(readFileSync(join(import.meta.dirname, 'release.json'), 'utf8')) as object;
  return {
    ...kept,
    ...addresses,
    engines: publishedEngines,
    exports: Object.fromEntries(Object.entries(kept.exports).map(([name, entry]) => [name, compiled(entry)])),
  };
}

function compiled(entry: Entry): Entry {
  if (typeof entry === 'string') return entry;
  const script = entry.default.replace(/^\.\/src\/(.+)\.ts$/, './dist/$1.js');
  return { types: script.replace(/\.js$/, '.d.ts'), default: script };
}

await main(resolve(process.argv[2] ?? join(root, 'artifacts', 'package')));
