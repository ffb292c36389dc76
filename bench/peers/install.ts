/** Installs peers, each into an ignored folder of its own, so that one that cannot be had does not take others along. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packages, type Packages, type PeerName } from './packages.ts';

const home = join(import.meta.dirname, '..', '..', '.bench-peers');

export const folderOf = (peer: PeerName): string => join(home, peer);

/** Why it could not be installed; null: it is there. */
export function install(peer: PeerName): string | null {
  const folder = folderOf(peer);
  const manifest = manifestOf(packages[peer]);
  const seal = join(folder, 'installed.json');
  if (existsSync(seal) && readFileSync(seal, 'utf8') === manifest) return null;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), manifest);
  const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: folder });
  if (npm.status !== 0) return npm.error?.message ?? firstError(npm.stderr.toString());
  writeFileSync(seal, manifest);
  return null;
}

/** A package of a peer, as its users would import it. */
export async function load<Module>(folder: string, name: string): Promise<Module> {
  const file = createRequire(join(folder, 'package.json')).resolve(name);
  return (await import(pathToFileURL(file).href)) as Module;
}

/** The Bun that was installed for those that need it; undefined: none for this machine. */
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
