// The published package, installed in an empty project as a stranger would.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './clean-environment.ts';
import { npmInstall } from './npm-install.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export class InstalledPackage {
  /** What is packed. */
  readonly folder = mkdtempSync(join(tmpdir(), 'stint-package-'));
  readonly project = mkdtempSync(join(tmpdir(), 'stint-project-'));

  /** Packs the package into a file of the project, and returns the name of the file. */
  pack(): string {
    this.run(process.execPath, [join(root, 'tools', 'package', 'main.ts'), this.folder], root);
    return this.run('npm', ['pack', this.folder, '--silent'], this.project).trim();
  }

  install(): void {
    const tarball = this.pack();
    writeFileSync(join(this.project, 'package.json'), '{"type":"module"}');
    npmInstall(this.project, [`./${tarball}`], []);
  }

  /** Runs a command to its end, without the variables of the tests. Returns what it prints. */
  run(command: string, words: readonly string[], cwd = this.project): string {
    return execFileSync(command, words, { cwd, encoding: 'utf8', env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  }

  remove(): void {
    for (const each of [this.folder, this.project]) rmSync(each, { recursive: true, force: true });
  }
}
