/** Claims with a growing number of definitions that have schedules, and the start of an engine that declares them. */
import { Engine, every, jobDef, jobType } from '../../src/index.ts';
import type { TargetAddress } from '../target.ts';
import type { Case, Workload } from '../workload.ts';
import { measureClaims } from './backlog.ts';
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
      measure: async (fixture) => {
        const startMs = await engineStartMs(fixture.scratch.address, count);
        const { readings, ...sample } = await measureClaims(fixture, jobs);
        return { ...sample, readings: [...readings, { what: 'start of an engine', unit: 'ms', value: startMs }] };
      },
    })),
};

async function engineStartMs({ database, location }: TargetAddress, count: number): Promise<number> {
  const schedules = [every('1d')];
  const defs = Array.from({ length: count }, (_, index) => jobDef(`report.${index}`, report, { schedules }));
  const store = database === 'sqlite' ? `sqlite:${location}` : location;
  await using instance = new Engine({ store, types: [report], defs });
  const start = performance.now();
  await instance.resume();
  return performance.now() - start;
}
