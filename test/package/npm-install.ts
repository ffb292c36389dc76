// Installs packages of npm in a folder, once more if that fails: npm can wait forever without a connection to the registry.
import { execFileSync } from 'node:child_process';
import { waitMs } from '../support/patience.ts';
import { cleanEnvironment } from './clean-environment.ts';

export function npmInstall(folder: string, packages: readonly string[], options: readonly string[] = ['--ignore-scripts']): void {
  const words = ['install', ...packages, '--prefer-offline', '--no-audit', '--no-fund', ...options];
  const install = (): void => void execFileSync('npm', words, {
    cwd: folder, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'], timeout: waitMs, killSignal: 'SIGKILL',
  });
  try {
    install();
  } catch (error) {
    console.warn(`once more: ${String(error)}`);
    install();
  }
}
