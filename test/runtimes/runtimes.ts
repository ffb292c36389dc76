// The JavaScript runtimes that the packed package is tried on. npm has all of them; their install scripts are not run.
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InstalledPackage } from '../package/installed-package.ts';
import { npmInstall } from '../package/npm-install.ts';

export interface JavaScriptRuntime {
  readonly name: string;
  readonly package: string;
  /** Where the program is below node_modules. */
  readonly program: string;
  readonly words: readonly string[];
  /** Whether the command `stint` is tried on it. */
  readonly hasCommand: boolean;
}

const node = (version: string): JavaScriptRuntime => {
  const name = `node-${process.platform}-${process.arch}`;
  return { name: `Node ${version}`, package: `${name}@${version}`, program: `${name}/bin/node`, words: [], hasCommand: true };
};

export const javaScriptRuntimes: readonly JavaScriptRuntime[] = [
  node('22.23.3'),
  node('24.21.0'),
  node('26.9.0'),
  { name: 'Bun 1.4.4', package: 'bun@1.4.4', program: '@oven/bun-*/bin/bun', words: [], hasCommand: false },
  { name: 'Deno 2.9.6', package: 'deno@2.9.6', program: '@deno/*/deno', words: ['run', '--allow-all'], hasCommand: false },
];

/** Installs a runtime in a folder of the project and returns the path of its program. Null: npm cannot install it here. */
export function installRuntime(installation: InstalledPackage, runtime: JavaScriptRuntime): string | null {
  const folder = join(installation.project, 'runtimes', runtime.name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  try {
    npmInstall(folder, [runtime.package]);
  } catch {
    return null;
  }
  const modules = join(folder, 'node_modules');
  const [found] = globSync(runtime.program, { cwd: modules });
  return found === undefined ? null : join(modules, found);
}
