// One store under the whole suite; each has a test file of its own, so that they can run side by side.
import { storeConformance } from '../../src/conformance/index.ts';
import { stores } from '../support/stores.ts';

/** A few hundred in each test run; npm run prove asks for thousands. */
export const histories = Number(process.env['STINT_HISTORIES'] ?? 500);

export function conform(name: string): void {
  const kind = stores.find((each) => each.name === name);
  if (!kind) throw new Error(`there is no store named ${name}`);
  storeConformance(name, { open: (clock) => kind.open(clock), histories });
}
