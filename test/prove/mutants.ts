// The mutants as a part of the proof: the simulator must find each guard that is taken out of the source.
import { availableParallelism } from 'node:os';
import { huntAll, type Catch } from '../mutants/hunt.ts';
import { mutants as onSqlite } from '../mutants/mutants.ts';
import { postgresMutants } from '../mutants/postgres-mutants.ts';
import { startSimulationServer } from '../sim/postgres/database.ts';
import type { Part } from './part.ts';

const processesMax = 4;

export const mutants: Part = {
  name: 'mutants',
  cpuSeconds: 400,
  runsBehind: true,
  async run({ size, progress }) {
    const seedsMax = size === 'long' ? 40 : 4;
    const processes = Math.min(processesMax, availableParallelism());
    let done = 0;
    const onCatch = ({ title }: Catch): void => {
      done += 1;
      progress(done / (onSqlite.length + postgresMutants.length), title);
    };
    const caught = await huntAll(onSqlite, { seedsMax, isLowPriority: true, chaosMs: 60 * 60_000 }, processes, onCatch);
    const server = await startSimulationServer();
    try {
      const request = { seedsMax, isLowPriority: true, chaosMs: 60_000, postgresServer: server.url };
      caught.push(...(await huntAll(postgresMutants, request, processes, onCatch)));
    } finally {
      await server.stop();
    }
    const missed = caught.filter(({ by }) => by === null);
    return {
      figures: { tried: caught.length, caught: caught.length - missed.length, onPostgres: postgresMutants.length },
      findings: missed.map(({ title }) => `no seed found the mutant: ${title}`),
    };
  },
};
