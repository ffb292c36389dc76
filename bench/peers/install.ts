/** Installs each peer into its own folder, so that a failed install affects only that peer. Git ignores the folders. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packages, type Packages, type PackageName } from './packages.ts';

const root = join(import.meta.dirname, '..', '..', '.bench-peers');

export const folderOf = (name: PackageName): string => join(root, name);

/** Returns the error of the install; null if the package is installed. */
export function install(name: PackageName): string | null {
  const folder = folderOf(name);
  const manifest = manifestOf(packages[name]);
  const marker = join(folder, 'installed.json');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === manifest) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  if (npm.status !== 0) return npm.error?.message ?? firstError(npm.stderr.toString());
  writeFileSync(marker, manifest);
  return null;
}

/** Imports a package from the folder of a peer. */
export async function load<Module>(folder: string, name: string): Promise<Module> {
  const file = createRequire(join(folder, 'package.json')).resolve(name);
  return (await import(pathToFileURL(file).href)) as Module;
}

/** The path of the installed Bun; undefined if npm has none for this platform. */
export function bunIn(folder: string): string | undefined {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const program = join(folder, 'node_modules', '@oven', `bun-${system}-${arch}`, 'bin', 'bun');
  return existsSync(program) ? program : undefined;
}

const manifestOf = (wanted: Packages): string =>
  `${JSON.stringify({ private: true, type: 'module', ...wanted }, null, 2)}\n`;

const firstError = (text: string): string =>
  text.split('\n').find((line) => /^npm error (?!code)/.test(line))?.replace('npm error ', '') ?? 'npm install failed';
