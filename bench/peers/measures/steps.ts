/**
 * Runs of steps in one process: many runs at a time, and one run alone, whose steps follow each other. Then the bytes
 * that a step takes in the database, without dead rows: by runs with steps beside as many without.
 */
import pg from 'pg';
import type { Child } from '../../child.ts';
import type { Measure } from '../measure.ts';
import type { PeerFixture } from '../peer-fixture.ts';
import type { PeerRequest, ProcessStats } from '../peer-process.ts';
import type { Reading } from '../reading.ts';

const stepsPerRun = 10;

export const steps: Measure = {
  name: 'steps',
  appliesTo: ({ hasSteps = false }) => hasSteps,
  run: async (fixture, { stepRuns: runs }) => {
    const child = await fixture.startProcess();
    await child.request({ do: 'work' });
    await child.request({ do: 'steps', runs: Math.ceil(runs / 5), steps: stepsPerRun });
    const many = await timed(fixture, child, runs, stepsPerRun);
    const alone = await timed(fixture, child, 1, runs);
    return [
      { figure: 'steps', unit: 'steps/s', ...many },
      { figure: 'steps of one run', unit: 'steps/s', ...alone },
      { figure: 'bytes per step', unit: 'B', value: await bytesPerStep(fixture, child, runs) },
    ];
  },
};

async function timed(
  fixture: PeerFixture,
  child: Child<PeerRequest>,
  runs: number,
  steps: number,
): Promise<Pick<Reading, 'value' | 'cpu'>> {
  const read = async () => [await child.request<ProcessStats>({ do: 'stats' }), fixture.scratch.serverCpuUs()] as const;
  const [before, serverBefore] = await read();
  const start = performance.now();
  await child.request({ do: 'steps', runs, steps });
  const ms = performance.now() - start;
  const [after, serverAfter] = await read();
  const count = runs * steps;
  const serverUs = serverBefore === null || serverAfter === null ? null : (serverAfter - serverBefore) / count;
  return { value: (count / ms) * 1_000, cpu: { clientUs: (after.cpuUs - before.cpuUs) / count, serverUs } };
}

async function bytesPerStep({ scratch }: PeerFixture, child: Child<PeerRequest>, runs: number): Promise<number> {
  const client = new pg.Client({ connectionString: scratch.location });
  await client.connect();
  try {
    const sizes = [await liveBytes(client)];
    for (const count of [0, stepsPerRun]) {
      await child.request({ do: 'steps', runs, steps: count });
      sizes.push(await liveBytes(client));
    }
    const [empty, without, withSteps] = sizes as [number, number, number];
    return (withSteps - without - (without - empty)) / (runs * stepsPerRun);
  } finally {
    await client.end();
  }
}

/** All tables with their indexes, without those of PostgreSQL itself. */
const tableBytes = `SELECT sum(pg_total_relation_size(oid)) AS bytes FROM pg_class
  WHERE relkind = 'r' AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

async function liveBytes(client: pg.Client): Promise<number> {
  await client.query('VACUUM FULL');
  const { rows } = await client.query<{ bytes: string }>(tableBytes);
  return Number(rows[0]!.bytes);
}
