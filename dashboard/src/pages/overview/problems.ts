/** Derives the problems that need attention from the figures of the overview; the worst come first. */
import type {
  Answer, InstanceView, SeriesRange, SeriesView, StatsView, TypeView,
} from '../../../../src/http/contract.ts';
import type { IconName } from '../../components/icon.tsx';
import { duration, number, percent, plural } from '../../format.ts';
import { href } from '../../router.ts';
import { textOf } from '../../search.ts';

export interface OverviewProblem {
  readonly id: string;
  readonly weight: 'bad' | 'odd';
  readonly icon: IconName;
  readonly title: string;
  /** The cause, or what the user can do. */
  readonly text: string;
  readonly link: string;
  readonly linkText: string;
}

export interface OverviewData {
  readonly stats: StatsView;
  readonly series: SeriesView;
  readonly types: readonly TypeView[];
  readonly instances: readonly InstanceView[];
  /** The definitions whose next tick is late; `next` is not null if there are more. */
  readonly late: Answer<'listDefs'>;
  /** The period that the series covers. */
  readonly range: SeriesRange;
}

const waitMs = 60_000;
const lostShownMs = 3_600_000;
const failingShownMax = 8;
export const lateShownMax = 8;

export function problemsOf(data: OverviewData): readonly OverviewProblem[] {
  const found = [
    ...typesWithoutWorker(data),
    ...lostInstances(data),
    ...failingTypes(data),
    ...lateSchedules(data),
    ...longestWait(data),
    ...lapsedLeases(data),
  ];
  return found.sort((a, b) => Number(b.weight === 'bad') - Number(a.weight === 'bad'));
}

function typesWithoutWorker({ types, instances }: OverviewData): OverviewProblem[] {
  const waiting = types.filter((type) => type.instances.length === 0 && (type.counts.pending ?? 0) > 0);
  if (!instances.some(({ isAlive }) => isAlive) && waiting.length > 0) {
    const count = waiting.reduce((sum, { counts }) => sum + (counts.pending ?? 0), 0);
    return [{
      id: 'no instance', weight: 'bad', icon: 'instances', title: 'No instance is running.',
      text: `${plural(count, 'job')} waiting. Start one with stint work or stint serve.`,
      link: href('/instances'), linkText: 'View instances',
    }];
  }
  return waiting.map(({ name, counts }) => ({
    id: `no worker ${name}`, weight: 'bad', icon: 'types', title: `No worker for type ${name}:`,
    text: `${plural(counts.pending ?? 0, 'job')} waiting. Start an instance with its code.`,
    link: runsOf(name, 'pending'), linkText: 'View waiting runs',
  }));
}

function lostInstances({ instances, stats }: OverviewData): OverviewProblem[] {
  const lost = instances.filter(({ isAlive, beatAt }) => !isAlive && stats.now - beatAt < lostShownMs);
  return lost.map(({ id, beatAt, busy }) => ({
    id: `lost ${id}`, weight: busy > 0 ? 'bad' : 'odd', icon: 'instances', title: `Instance ${id} lost:`,
    text: `last heartbeat ${duration(stats.now - beatAt)} ago${busy > 0 ? reassigned(busy) : ''}.`,
    link: href('/instances'), linkText: 'View instances',
  }));
}

const reassigned = (busy: number): string =>
  `; its ${plural(busy, 'job')} ${busy === 1 ? 'is' : 'are'} reassigned`;

function failingTypes({ series, range }: OverviewData): OverviewProblem[] {
  const failing = series.types.filter(({ failed }) => failed > 0).slice(0, failingShownMax);
  return failing.map(({ type, failed, succeeded }) => ({
    id: `failing ${type}`, weight: failed * 2 >= failed + succeeded ? 'bad' : 'odd', icon: 'failures',
    title: `${type}: ${percent(failed, failed + succeeded)} failing`,
    text: `(${number(failed)} of ${number(failed + succeeded)} in the ${rangeTexts[range]})`,
    link: href('/runs', {
      search: textOf([
        { name: 'type', value: type }, { name: 'state', value: 'failed' }, { name: 'kind', value: 'run,task,bedrock' },
      ]),
    }),
    linkText: 'View failed runs',
  }));
}

function lateSchedules({ late: { items, next: hasMore }, stats }: OverviewData): OverviewProblem[] {
  const shown = items.map(({ name, nextExecutionTime: next }): OverviewProblem => ({
    id: `late ${name}`, weight: 'bad', icon: 'schedules', title: `${name} is ${duration(stats.now - next!)} late.`,
    text: 'Check that an instance is running.',
    link: href('/definitions', { name }), linkText: 'View schedule',
  }));
  return hasMore === null ? shown : [...shown, {
    id: 'more late', weight: 'bad', icon: 'schedules', title: 'More definitions are late.', text: '',
    link: href('/definitions', { status: 'late' }), linkText: 'View late definitions',
  }];
}

type Point = SeriesView['points'][number];

const backlogBuckets = 30;

function longestWait({ series, stats, types }: OverviewData): OverviewProblem[] {
  const oldest = stats.oldestReady;
  if (oldest === null || oldest.ageMs < waitMs) return [];
  const growth = backlogGrowth(series);
  const pace = growth > 0 ? `The backlog of all types grew by ${number(growth)} in ${duration(backlogMs(series))}.` : '';
  const limit = limitInUse(types.find(({ name }) => name === oldest.type));
  return [{
    id: 'backlog', weight: growth > 0 ? 'bad' : 'odd', icon: 'queues',
    title: `${oldest.type}: oldest job waiting ${duration(oldest.ageMs)}`,
    text: [limit, pace].filter(Boolean).join(' '),
    link: href(`/runs/${oldest.id}`, { tab: 'explain' }), linkText: 'Why?',
  }];
}

function backlogGrowth({ points }: SeriesView): number {
  const ended = (point: Point): number => point.succeeded + point.failed + point.cancelled;
  return points.slice(-backlogBuckets).reduce((sum, point) => sum + point.created - ended(point), 0);
}

const backlogMs = ({ points, bucketMs }: SeriesView): number => Math.min(points.length, backlogBuckets) * bucketMs;

/** Says that the limit of the type is reached, which explains the wait; otherwise returns an empty text. */
function limitInUse(type: TypeView | undefined): string {
  const [running, limit] = [type?.counts.running ?? 0, type?.onePerType === true ? 1 : (type?.concurrency ?? null)];
  return limit !== null && running >= limit ? `(limit ${number(limit)} of ${number(limit)} in use)` : '';
}

function lapsedLeases({ series, range }: OverviewData): OverviewProblem[] {
  const count = series.points.reduce((sum, { lapsed }) => sum + lapsed, 0);
  if (count === 0) return [];
  return [{
    id: 'lapses', weight: 'odd', icon: 'clock',
    // The title counts jobs, not workers: the series has the jobs whose lease lapsed, and one worker may have held
    // several.
    title: `${plural(count, 'job')} lost ${count === 1 ? 'its' : 'their'} worker in the ${rangeTexts[range]};`,
    text: `${count === 1 ? 'it was' : 'they were'} reassigned.`,
    link: href('/instances'), linkText: 'View instances',
  }];
}

export const rangeTexts: Readonly<Record<SeriesRange, string>> = {
  '15m': 'last 15 minutes', '1h': 'last hour', '6h': 'last 6 hours', '1d': 'last day', '7d': 'last 7 days',
  '90d': 'last 90 days',
};

const runsOf = (type: string, state: string): string =>
  href('/runs', { search: textOf([{ name: 'type', value: type }, { name: 'state', value: state }]) });
