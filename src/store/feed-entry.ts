/**
 * The feed entry of one commit. Most commits do the same to many jobs; the entry then has the events once, with the ids
 * of the jobs: a tenth of the text, and of the cost of writing it.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { FeedEvent } from './store.ts';

/** The jobs of one kind, type and parent to which the same happened. */
interface StoredGroup extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly jobs: readonly number[];
  readonly events: readonly Event[];
}

interface EventGroup extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly line: string;
  readonly jobs: number[];
}

export class FeedEntry {
  readonly #groups: EventGroup[] = [];
  /** Groups still open: none of their jobs occurs in a later group. */
  readonly #open = new Map<string, EventGroup>();
  readonly #listedIds = new Set<number>();
  #last: EventGroup | undefined;

  get isEmpty(): boolean {
    return this.#groups.length === 0;
  }

  /** What happened to a job, as its history has it. */
  add(job: Job, line: string): void {
    const { id, kind, type, parent } = job;
    if (this.#listedIds.has(id)) this.#closeGroups();
    this.#listedIds.add(id);
    if (!this.#last || !isAlike(this.#last, job, line)) this.#last = this.#groupOf(kind, type, parent, line);
    this.#last.jobs.push(id);
  }

  /** As JSON, to be read by `feedEventsOf`. */
  get text(): string {
    return `[${this.#groups.map(groupText).join(',')}]`;
  }

  /** A second change of a job must come after the first: later changes start new groups. */
  #closeGroups(): void {
    this.#open.clear();
    this.#listedIds.clear();
    this.#last = undefined;
  }

  #groupOf(kind: Job['kind'], type: string, parent: number | null, line: string): EventGroup {
    const name = `${kind} ${parent} ${type}\n${line}`;
    const known = this.#open.get(name);
    if (known) return known;
    const fresh = { kind, type, parent, line, jobs: [] };
    this.#open.set(name, fresh);
    this.#groups.push(fresh);
    return fresh;
  }
}

const isAlike = (group: EventGroup, { kind, type, parent }: Job, line: string): boolean =>
  group.line === line && group.type === type && group.parent === parent && group.kind === kind;

const groupText = ({ kind, type, parent, jobs, line }: EventGroup): string =>
  `{"kind":"${kind}","type":${JSON.stringify(type)},"parent":${parent},"jobs":[${jobs.join(',')}],"events":${line}}`;

export const feedEventsOf = (text: string): FeedEvent[] =>
  (JSON.parse(text) as StoredGroup[]).flatMap(({ jobs, events, ...about }) =>
    jobs.flatMap((job) => events.map((event) => ({ job, ...about, event }))),
  );
