// The tests through PgBouncer in transaction mode: npx vitest run --config test/ops/pgbouncer.config.ts test/store …
import { mergeConfig } from 'vitest/config';
import base from '../support/config.ts';

const merged = mergeConfig(base, {});
merged.test!.globalSetup = ['test/ops/pgbouncer.ts'];

export default { ...merged, root: new URL('../..', import.meta.url).pathname };
