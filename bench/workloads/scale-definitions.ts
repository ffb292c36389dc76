/** Claims beside more and more definitions with schedules, and how long an engine that declares them takes to start. */
import { Engine, every, jobDef, jobType } from '../../src/index.ts';
import type { Place } from '../contender.ts';
import type { Case, Workload } from '../workload.ts';
import { claimed } from './backlog.ts';
import { countOf } from './drain.ts';

const report = jobType('report', { run: () => {} });

export const scaleDefinitions: Workload = {
  name: 'scale definitions',
  isOursOnly: true,
  isLong: true,
  cases: ({ scale: { definitions, jobs } }) =>
    definitions.map((count, index): Case => ({
      title: `claims beside ${countOf(count, 'definition')}`,
      params: { definitions: count },
      isBase: index === 0,
      measure: async (stand) => {
        const startMs = await startOfEngine(stand.ground.place, count);
        const { readings, ...sample } = await claimed(stand, jobs);
        return { ...sample, readings: [...readings, { what: 'start of an engine', unit: 'ms', value: startMs }] };
      },
    })),
};

async function startOfEngine({ engine, at }: Place, count: number): Promise<number> {
  const defs = Array.from({ length: count }, (_, index) => jobDef(`report.${index}`, report, { schedules: [every('1d')] }));
  await using instance = new Engine({ store: engine === 'sqlite' ? `sqlite:${at}` : at, types: [report], defs });
  const start = performance.now();
  await instance.resume();
  return performance.now() - start;
}
