// The reporter that ends a run with one plain line: how many tests passed, failed and were skipped.
import type { Reporter, TestModule } from 'vitest/node';
import { browserAdvice, browserSource } from './browser-source.ts';
import { isInstalled, runtimes } from './runtimes.ts';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const lines = [...browserLines(modules), ...runtimeLines(modules), closingLine(modules, unhandledErrors.length)];
    // On exit, so that nothing another reporter prints comes after it.
    process.on('exit', () => console.log(lines.join('\n')));
  }
}

function closingLine(modules: readonly TestModule[], unhandled: number): string {
  const count = { passed: 0, failed: unhandled, skipped: 0, pending: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) count[test.result().state] += 1;
    // A file that cannot be loaded has no tests to count.
    if (module.errors().length > 0) count.failed += 1;
  }
  return `${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`;
}

/** Names the browser tests that were skipped, and the command that helps. */
function browserLines(modules: readonly TestModule[]): string[] {
  if (browserSource() !== null) return [];
  const ofRuntimes = runtimes.map(({ tests }) => tests);
  const skipped = modules.filter((module) => module.state() === 'skipped' && !ofRuntimes.includes(module.relativeModuleId));
  if (skipped.length === 0) return [];
  const files = skipped.map(({ relativeModuleId }) => `  ${relativeModuleId}`);
  return ['No browser was found, so the tests of these files were skipped:', ...files, browserAdvice];
}

/** Names the tests of clients in other languages that were skipped, and the command that helps. */
function runtimeLines(modules: readonly TestModule[]): string[] {
  return runtimes.filter((runtime) => !isInstalled(runtime)).flatMap(({ name, tests, advice }) => {
    const skipped = modules.find(({ relativeModuleId }) => relativeModuleId === tests);
    const count = [...(skipped?.children.allTests() ?? [])].length;
    return count === 0 ? [] : [`${name} was not found, so the ${count} tests of ${tests} were skipped. ${advice}`];
  });
}
