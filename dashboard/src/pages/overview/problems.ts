/** The problems: what needs somebody, read off the figures, the worst first. */
import type {
  Answer, DefView, InstanceView, SeriesView, StatsView, TypeView,
} from '../../../../src/http/contract.ts';
import type { IconName } from '../../components/icon.tsx';
import { href } from '../../router.ts';
import { number, percent, plural, span } from '../../words.ts';

export interface Problem {
  readonly id: string;
  readonly weight: 'bad' | 'odd';
  readonly icon: IconName;
  readonly title: string;
  /** What it means or what to do. */
  readonly says: string;
  readonly link: string;
  readonly linkText: string;
}

export interface Picture {
  readonly stats: StatsView;
  readonly series: SeriesView;
  readonly types: readonly TypeView[];
  readonly instances: readonly InstanceView[];
  readonly defs: Answer<'listDefs'>['items'];
  /** Such as "1h": what the series tells of. */
  readonly range: string;
}

const lateMs = 60_000;
const oldMs = 60_000;
const mournMs = 3_600_000;
const failingShownMax = 8;

export function problemsOf(picture: Picture): readonly Problem[] {
  const found = [
    ...nobodyKnows(picture),
    ...lostInstances(picture),
    ...failingTypes(picture),
    ...lateSchedules(picture),
    ...backlog(picture),
    ...lapses(picture),
  ];
  return found.sort((a, b) => Number(b.weight === 'bad') - Number(a.weight === 'bad'));
}

function nobodyKnows({ types, instances }: Picture): Problem[] {
  const waiting = types.filter((type) => type.instances.length === 0 && (type.counts.pending ?? 0) > 0);
  if (!instances.some(({ isAlive }) => isAlive) && waiting.length > 0) {
    const count = waiting.reduce((sum, { counts }) => sum + (counts.pending ?? 0), 0);
    return [{
      id: 'nobody', weight: 'bad', icon: 'instances', title: 'No instance is alive',
      says: `${plural(count, 'job')} of ${plural(waiting.length, 'type')} wait. Start one: stint work or stint serve.`,
      link: href('/instances'), linkText: 'Instances',
    }];
  }
  return waiting.map(({ name, counts }) => ({
    id: `unknown ${name}`, weight: 'bad', icon: 'types', title: `Nobody knows the type ${name}`,
    says: `${waits(counts.pending!)}, and no living instance has its code. Start one that has.`,
    link: runs(`type:${quoted(name)} state:pending`), linkText: 'Waiting runs',
  }));
}

function lostInstances({ instances, stats }: Picture): Problem[] {
  const lost = instances.filter(({ isAlive, beatAt }) => !isAlive && stats.now - beatAt < mournMs);
  return lost.map(({ id, beatAt, busy }) => ({
    id: `lost ${id}`, weight: busy > 0 ? 'bad' : 'odd', icon: 'instances', title: `Instance ${id} is gone`,
    says: `Its last beat was ${span(stats.now - beatAt)} ago${busy > 0 ? inHand(busy) : ''}.`,
    link: href('/instances'), linkText: 'Instances',
  }));
}

const inHand = (busy: number): string => `, with ${plural(busy, 'job')} in hand, which others take over`;

function failingTypes({ series, range }: Picture): Problem[] {
  const failing = series.types.filter(({ failed }) => failed > 0).slice(0, failingShownMax);
  return failing.map(({ type, failed, succeeded }) => ({
    id: `failing ${type}`, weight: failed * 2 >= failed + succeeded ? 'bad' : 'odd', icon: 'failures',
    title: `${type} fails`,
    says: `${share(failed, failed + succeeded)} failed within ${rangeWords[range] ?? range}.`,
    link: runs(`type:${quoted(type)} state:failed kind:run,task,bedrock`), linkText: 'Failed runs',
  }));
}

const share = (part: number, all: number): string => `${number(part)} of ${number(all)} (${percent(part, all)})`;

function lateSchedules({ defs, stats }: Picture): Problem[] {
  const isLate = ({ enabled, nextExecutionTime: next }: DefView): boolean =>
    enabled && next !== null && stats.now - next > lateMs;
  return defs.filter(isLate).map(({ name, nextExecutionTime: next }) => ({
    id: `late ${name}`, weight: 'bad', icon: 'schedules', title: `${name} is late`,
    says: `It should have run ${span(stats.now - next!)} ago. Is an instance alive that schedules?`,
    link: href('/definitions', { name }), linkText: 'Its schedule',
  }));
}

type Point = SeriesView['points'][number];

function backlog({ series, stats }: Picture): Problem[] {
  const recent = series.points.slice(-30);
  const minutes = (recent.length * series.bucketMs) / 60_000;
  const ended = (point: Point): number => point.succeeded + point.failed + point.cancelled;
  const growth = recent.reduce((sum, point) => sum + point.created - ended(point), 0);
  const oldest = stats.oldestReady;
  if (oldest === null || oldest.ageMs < oldMs) return [];
  const pace = growth > 0 ? `grew by ${number(growth)} within ${span(minutes * 60_000)}` : 'does not grow';
  return [{
    id: 'backlog', weight: growth > 0 ? 'bad' : 'odd', icon: 'queues',
    title: `A ${oldest.type} has waited ${span(oldest.ageMs)}`,
    says: `It is due and nobody has taken it. The backlog ${pace}.`,
    link: href(`/runs/${oldest.id}`, { tab: 'explain' }), linkText: 'Why?',
  }];
}

function lapses({ series, range }: Picture): Problem[] {
  const count = series.points.reduce((sum, { lapsed }) => sum + lapsed, 0);
  if (count === 0) return [];
  return [{
    id: 'lapses', weight: 'odd', icon: 'clock', title: `${plural(count, 'lease')} lapsed`,
    says: `Within ${rangeWords[range] ?? range}, so many holders fell silent and their jobs were given to others.`,
    link: href('/instances'), linkText: 'Instances',
  }];
}

export const rangeWords: Readonly<Record<string, string>> = {
  '15m': '15 minutes', '1h': 'the last hour', '6h': '6 hours', '1d': 'the last day', '7d': '7 days', '90d': '90 days',
};

const waits = (count: number): string => `${plural(count, 'job')} ${count === 1 ? 'waits' : 'wait'}`;
const runs = (search: string): string => href('/runs', { search });
const quoted = (name: string): string => (/\s/.test(name) ? `"${name}"` : name);
