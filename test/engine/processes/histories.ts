// Judges what is stored: each flaw is a sentence, named by the invariant that it breaks.
import type { Engine, Event, Job, RunHandle } from '../../../src/index.ts';
import { endings } from '../../../src/model/event.ts';
import type { Entry } from './children/ledger.ts';

export interface Told {
  readonly job: Job;
  readonly events: readonly Event[];
}

export type EventOf<K extends Event['kind']> = Extract<Event, { kind: K }>;

/** Every run and task of a store. */
export async function histories({ jobs }: Engine): Promise<Told[]> {
  const told: Told[] = [];
  for (let after: number | undefined; ; ) {
    const ask = { order: 'oldest', limit: 1000, ...(after === undefined ? {} : { after }) } as const;
    const page = await jobs.find({ kinds: ['run', 'task'] }, ask);
    for (let from = 0; from < page.jobs.length; from += 100) {
      const some = page.jobs.slice(from, from + 100);
      told.push(...(await Promise.all(some.map(async (job) => ({ job, events: await jobs.history(job.id) })))));
    }
    if (page.next === null) return told;
    after = page.next;
  }
}

/** What happened to a run, in short. */
export const kindsOf = async (run: RunHandle): Promise<Event['kind'][]> => (await run.events()).map(({ kind }) => kind);

export const eventsOf = <K extends Event['kind']>(events: readonly Event[], kind: K): EventOf<K>[] =>
  events.filter((event): event is EventOf<K> => event.kind === kind);

/** What must hold of every history, whatever was killed. */
export const flawsOf = (all: readonly Told[]): string[] => all.flatMap((told) => rules.flatMap((rule) => rule(told)));

const rules: readonly ((told: Told) => string[])[] = [
  hasGaps, goesBackInTime, endsTwice, goesOnAfterItsEnd, isClaimedTwice, isOpen,
];

function hasGaps({ job, events }: Told): string[] {
  const isWhole = events.every(({ n }, index) => n === index + 1) && events.length === job.version;
  return isWhole ? [] : [`S27: the events of job ${job.id} have gaps`];
}

function goesBackInTime({ job, events }: Told): string[] {
  const neverFalls = events.every(({ at }, index) => index === 0 || at >= events[index - 1]!.at);
  return neverFalls ? [] : [`S27: time falls in job ${job.id}`];
}

function endsTwice({ job, events }: Told): string[] {
  const counts = generationsOf(events).map((part) => part.filter(({ kind }) => endings.has(kind)).length);
  return counts.every((count) => count <= 1) ? [] : [`S1: job ${job.id} ended ${counts.join(', ')} times`];
}

function goesOnAfterItsEnd({ job, events }: Told): string[] {
  return generationsOf(events).every(isEndLast) ? [] : [`S2: job ${job.id} goes on after its end`];
}

function isEndLast(events: readonly Event[]): boolean {
  const end = events.findIndex(({ kind }) => endings.has(kind));
  return end === -1 || end === events.length - 1;
}

/** Claimed again without having been given up, lost, planned or ended in between. */
function isClaimedTwice({ job, events }: Told): string[] {
  const holds = events.map(({ kind }) => kind).filter((kind) => kind === 'claimed' || letsGo.has(kind));
  return holds.some((kind, index) => kind === 'claimed' && holds[index - 1] === 'claimed')
    ? [`S5: job ${job.id} was claimed while it was held`]
    : [];
}

const letsGo: ReadonlySet<Event['kind']> = new Set<Event['kind']>([
  'released', 'lapsed', 'retried', 'planned', 'repeated', 'reopened', 'succeeded', 'failed', 'cancelled',
]);

function isOpen({ job }: Told): string[] {
  return job.state === 'ended' ? [] : [`L2: job ${job.id} is still ${job.state}`];
}

/** Reopening starts a generation. */
function generationsOf(events: readonly Event[]): Event[][] {
  const parts: Event[][] = [[]];
  for (const event of events) {
    if (event.kind === 'reopened') parts.push([]);
    parts.at(-1)!.push(event);
  }
  return parts;
}

/** What handlers say they did, against what is stored: no claim started twice, no start without a claim or a cause. */
export function ledgerFlaws(all: readonly Told[], ledger: readonly Entry[]): string[] {
  const starts = ledger.filter(({ what }) => what === 'start');
  return all.flatMap(({ job, events }) => {
    const own = starts.filter((entry) => entry.job === job.id);
    const fences = new Set(own.map(({ fence }) => fence));
    const claims = eventsOf(events, 'claimed').length;
    const causes = events.filter(({ kind }) => again.has(kind)).length;
    return [
      ...(fences.size === own.length ? [] : [`S3: job ${job.id} was started twice under one fence`]),
      ...(own.every(({ fence }) => fence! <= claims) ? [] : [`S9: job ${job.id} was started without a claim`]),
      ...(own.length <= 1 + causes ? [] : [`P5: job ${job.id} was started ${own.length} times with ${causes} causes`]),
    ];
  });
}

/** What lets a job be started once more. */
const again: ReadonlySet<Event['kind']> = new Set<Event['kind']>([
  'lapsed', 'retried', 'released', 'planned', 'repeated', 'reopened',
]);
