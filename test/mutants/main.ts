// Hunts mutants from the command line: node test/mutants/main.ts [--seeds 10] [--minutes 20] [--only TEXT] [--postgres]
import { parseArgs } from 'node:util';
import { huntAll } from './hunt.ts';
import { startSimulationServer } from '../sim/postgres/database.ts';
import { mutants } from './mutants.ts';
import { postgresMutants } from './postgres-mutants.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({ options: { seeds: text, minutes: text, only: text, postgres: flag } });
const server = values.postgres ? await startSimulationServer() : null;
const place = server === null ? {} : { postgresServer: server.url };
const ask = { seedsMax: Number(values.seeds ?? 10), chaosMs: Number(values.minutes ?? (server ? 1 : 20)) * 60_000, ...place };
const selected = (server ? postgresMutants : mutants).filter(({ title }) => title.includes(values.only ?? ''));
await huntAll(selected, ask, 2, ({ title, by }) => {
  console.log(`${by ? `${by.invariant} by seed ${by.seed}` : 'GOT AWAY'}: ${title}`);
  if (!by) process.exitCode = 1;
});
await server?.stop();
