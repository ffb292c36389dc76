/** The charts: which rows of the bench become lines, and which parameter is the x-axis. */
import type { DatabaseName } from '../target.ts';
import type { Figure, Row } from '../rounds.ts';
import type { Point } from './slope.ts';

export interface Chart {
  /** The name of the SVG file. */
  readonly name: string;
  readonly title: string;
  readonly xTitle: string;
  readonly unit: Row['unit'];
  readonly lines: readonly Line[];
}

export interface Line {
  readonly database: DatabaseName;
  readonly side: 'ours' | 'limit';
  readonly points: readonly Point[];
}

interface Plan extends Omit<Chart, 'lines'> {
  readonly workload: string;
  /** The parameter of a row that is x. */
  readonly param: string;
  readonly where?: (params: Row['params']) => boolean;
}

const plans: readonly Plan[] = [
  {
    name: 'batch', title: 'Drain, by the size of a batch', workload: 'drain',
    param: 'batch', xTitle: 'jobs in a batch', unit: 'jobs/s', where: ({ processes }) => processes === 1,
  },
  {
    name: 'processes', title: 'Drain, by processes', workload: 'scale processes',
    param: 'processes', xTitle: 'processes', unit: 'jobs/s',
  },
  {
    name: 'instances', title: 'Drain, by engines', workload: 'scale instances',
    param: 'instances', xTitle: 'engines, each a process', unit: 'jobs/s',
  },
  {
    name: 'pending', title: 'Claims, by jobs of other names', workload: 'backlog',
    param: 'others', xTitle: 'pending jobs of other names', unit: 'jobs/s',
    where: ({ later, ended }) => later === 0 && ended === 0,
  },
  {
    name: 'later', title: 'Claims, by jobs due later', workload: 'backlog',
    param: 'later', xTitle: 'jobs of the same name due later', unit: 'jobs/s',
    where: ({ later, ended }) => later !== 0 && ended === 0,
  },
  {
    name: 'ended', title: 'Claims, by ended jobs', workload: 'backlog',
    param: 'ended', xTitle: 'ended jobs of the same name', unit: 'jobs/s', where: ({ ended }) => ended !== 0,
  },
  {
    name: 'tasks', title: 'Tasks, by tasks in a run', workload: 'scale tasks',
    param: 'tasks', xTitle: 'tasks in a run', unit: 'jobs/s',
  },
  {
    name: 'definitions', title: 'Claims, by definitions', workload: 'scale definitions',
    param: 'definitions', xTitle: 'definitions', unit: 'jobs/s',
  },
  {
    name: 'start', title: 'Start of an engine, by definitions', workload: 'scale definitions',
    param: 'definitions', xTitle: 'definitions', unit: 'ms',
  },
  {
    name: 'dead-tuples', title: 'Claims, by jobs gone through without a rest', workload: 'scale dead tuples',
    param: 'churned', xTitle: 'jobs gone through', unit: 'jobs/s',
  },
  {
    name: 'idle-transaction', title: 'Claims beside an idle transaction', workload: 'scale idle transaction',
    param: 'churned', xTitle: 'jobs gone through since it was opened', unit: 'jobs/s',
  },
];

/** Returns the charts that have a line of at least two points. */
export const chartsOf = (rows: readonly Row[]): Chart[] =>
  plans.map((plan) => chartOf(plan, rows)).filter(({ lines }) => lines.some(({ points }) => points.length > 1));

function chartOf({ workload, param, where = () => true, ...chart }: Plan, rows: readonly Row[]): Chart {
  const own = rows.filter((row) => row.workload === workload && row.unit === chart.unit && where(row.params));
  const databases = [...new Set(own.map(({ database }) => database))];
  const lines = databases.flatMap((database) =>
    (['ours', 'limit'] as const).map((side): Line => {
      const pointOf = (row: Row, { median }: Figure): Point => ({ x: row.params[param]!, y: median });
      const points = own.flatMap((row) => (row.database === database && row[side] ? [pointOf(row, row[side])] : []));
      return { database, side, points };
    }));
  return { ...chart, lines: lines.filter(({ points }) => points.length > 0) };
}
