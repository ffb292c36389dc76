// The token of a link is removed from errors, wherever in them it stands.
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { withoutToken } from '../../src/engine/attempt/without-token.ts';

const token = '7.s3cr3t';

test.each([
  ['behind a long text', { body: `${'x'.repeat(20_000)} ${token}` }],
  ['at the end of a long list', { lines: [...Array.from({ length: 200 }, () => 'x'), token] }],
])('a token %s is removed', (_, data) => {
  const cleaned = withoutToken(Object.assign(new Error('refused'), data), token);
  expect(inspect(cleaned, { maxStringLength: null, maxArrayLength: null })).not.toContain('s3cr3t');
});
