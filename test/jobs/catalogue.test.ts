// The catalogue of refusals: every code is used, and every use is in the catalogue.
import { describe, expect, test } from 'vitest';
import { refusalCodes, type RefusalCode } from '../../src/refusal.ts';
import { readSources } from '../architecture/source.ts';

/** Codes that nothing refuses with yet, and who will. */
const notYet: Partial<Record<RefusalCode, string>> = {};

const sources = readSources('src').filter(({ path }) => path !== 'src/refusal.ts');
const isUsed = (code: string): boolean => sources.some(({ texts }) => texts.includes(code));

describe('the catalogue of refusals', () => {
  test.for(Object.keys(refusalCodes) as RefusalCode[])('%s is used, or known to be used later', (code) => {
    expect(isUsed(code) ? 'used' : (notYet[code] ?? 'forgotten')).not.toBe('forgotten');
  });

  test.for(Object.keys(notYet))('%s is still unused: else it leaves the list', (code) => {
    expect(isUsed(code)).toBe(false);
  });

  test.for(Object.entries(refusalCodes))('%s says in words what is wrong', ([code, sentence]) => {
    expect(code).toMatch(/^[a-z]+(\.[a-z]+)?$/);
    expect(sentence).toMatch(/^[a-z].{10,100}[^.]$/);
  });
});
