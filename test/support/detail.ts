// `test` and `describe` for details, which only the proof runs. npm test has the main case of every rule.
import { describe, test } from 'vitest';
import { bySize } from './size.ts';

const isProof = bySize({ small: false, ci: true });

export const detail = test.runIf(isProof);
export const details = describe.runIf(isProof);
