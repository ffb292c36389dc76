// Recent: at least so many names are remembered, and never more than twice as many.
import { expect, test } from 'vitest';
import { Recent } from '../../src/engine/progress/recent.ts';

test('the newest names are remembered, and the old ones forgotten', () => {
  const recent = new Recent<number>(100);
  for (let name = 0; name < 1000; name++) {
    recent.add(name);
    expect(recent.has(Math.max(0, name - 99))).toBe(true);
    expect(recent.has(name - 200)).toBe(false);
  }
});
