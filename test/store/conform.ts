// One store under the whole suite; each has a test file of its own, so that they can run side by side.
import { storeConformance } from '../../src/conformance/index.ts';
import { bySize, isOfRun } from '../support/size.ts';
import { stores } from '../support/stores.ts';

const examples = isOfRun(true);
const histories = bySize({ small: 10, ci: 1_000, full: 3_000, long: 50_000 });
const queries = bySize({ small: 0, ci: 600, full: 1_200, long: 1_600 });
const races = bySize({ small: 1, ci: 8 });

export function conform(name: string): void {
  const kind = stores.find((each) => each.name === name);
  if (!kind) throw new Error(`there is no store named ${name}`);
  storeConformance(name, { open: (clock) => kind.open(clock), examples, histories, queries, races });
}
