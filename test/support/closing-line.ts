// The reporter that ends a run with one plain line, which any reader of a log understands.
import type { Reporter, TestModule } from 'vitest/node';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const line = closingLine(modules, unhandledErrors.length);
    // On exit, so that nothing another reporter prints comes after it.
    process.on('exit', () => console.log(line));
  }
}

function closingLine(modules: readonly TestModule[], unhandled: number): string {
  const count = { passed: 0, failed: unhandled, skipped: 0, pending: 0 };
  for (const module of modules) {
    for (const test of module.children.allTests()) count[test.result().state] += 1;
    // A file that cannot even be loaded has no tests to count.
    if (module.errors().length > 0) count.failed += 1;
  }
  return `${count.passed} passed, ${count.failed + count.pending} failed, ${count.skipped} skipped`;
}
