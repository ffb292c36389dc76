// Recent: at least so many names are remembered, and never more than twice as many.
import { expect, test } from 'vitest';
import { Recent } from '../../src/engine/progress/recent.ts';

test('the newest names are remembered, and the old ones forgotten', () => {
  const recent = new Recent<number, string>(100);
  for (let name = 0; name < 1000; name++) {
    recent.add(name, `said of ${name}`);
    const old = Math.max(0, name - 99);
    expect(recent.get(old)).toBe(`said of ${old}`);
    expect(recent.get(name - 200)).toBeUndefined();
  }
});
