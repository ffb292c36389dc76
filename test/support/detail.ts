// `test` and `describe` for details, which only the proof runs. npm test has the main case of every rule.
import { describe, test, type TestFunction } from 'vitest';
import { bySize } from './size.ts';

const isProof = bySize({ small: false, ci: true });

/** The tag of details: of files that are otherwise the same in every run, the proof runs only these tests. */
export const detailTag = 'detail';

/** `detail` for what needs something that a machine may not have. */
export const detailIf = (isPossible: boolean) => (title: string, run: TestFunction): void =>
  test.runIf(isProof && isPossible)(title, { tags: [detailTag] }, run);

export const detail = detailIf(true);

export function details(title: string, declare: () => void): void {
  describe.runIf(isProof)(title, { tags: [detailTag] }, declare);
}
