// Two builds of one program, as during a rolling deploy: an instance whose name begins with `new` has the newer code.
import { z } from 'zod';
import { cron, every, jobDef, jobType } from '../../../../src/index.ts';
import { gate, of, tell } from './ledger.ts';

const isNew = (process.env['STINT_INSTANCE'] ?? '').startsWith('new');

const plain = jobType('plain', { timeout: isNew ? '2m' : '1m', run: () => null });

const fields = { [isNew ? 'b' : 'a']: z.number() };
const versioned = jobType('versioned', {
  input: z.strictObject(fields),
  run: (context) => tell('versioned', of(context)),
});

/** Occupies a slot of the new build. */
const busy = jobType('busy', {
  run: async ({ signal, ...context }) => {
    tell('busy', of(context));
    await gate('go', signal);
  },
});

const daily = jobDef('daily', plain, { schedules: cron(isNew ? '0 2 * * *' : '0 1 * * *') });
const dropped = jobDef('dropped', plain, { schedules: every('1s') });

export const types = isNew ? [plain, versioned, busy] : [plain, versioned];
export const defs = isNew ? [daily] : [daily, dropped];
