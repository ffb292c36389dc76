// Hunts mutants from the command line: node test/mutants/main.ts [--seeds 10] [--minutes 20] [--only TEXT]
import { parseArgs } from 'node:util';
import { huntAll } from './hunt.ts';
import { mutants } from './mutants.ts';

const text = { type: 'string' } as const;
const { values } = parseArgs({ options: { seeds: text, minutes: text, only: text } });
const ask = { seedsMax: Number(values.seeds ?? 10), chaosMs: Number(values.minutes ?? 20) * 60_000 };
const selected = mutants.filter(({ title }) => title.includes(values.only ?? ''));
await huntAll(selected, ask, 2, ({ title, by }) => {
  console.log(`${by ? `${by.invariant} by seed ${by.seed}` : 'GOT AWAY'}: ${title}`);
  if (!by) process.exitCode = 1;
});
