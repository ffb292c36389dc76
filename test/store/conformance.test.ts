// Every store, under the one suite that is exported for authors of others.
import { storeConformance } from '../../src/store/conformance/index.ts';
import { stores } from '../support/stores.ts';

for (const kind of stores) storeConformance(kind.name, { open: (clock) => kind.open(clock) });
