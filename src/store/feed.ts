/**
 * What one commit tells in the feed. Most commits do the same to many jobs, and then what happened is told once, with
 * the jobs it happened to: a tenth of the text, and of what its writing costs.
 */
import type { Event } from '../model/event.ts';
import type { Job } from '../model/job.ts';
import type { FeedEvent } from './store.ts';

/** The jobs of one kind, type and parent to which the same happened. */
interface Telling extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly jobs: readonly number[];
  readonly events: readonly Event[];
}

interface Group extends Pick<Job, 'kind' | 'type' | 'parent'> {
  readonly line: string;
  readonly jobs: number[];
}

export class Tellings {
  readonly #groups = new Map<string, Group>();
  #last: Group | undefined;

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  /** What happened to a job, as its history has it. */
  add(job: Job, line: string): void {
    const { id, kind, type, parent } = job;
    if (!this.#last || !isAlike(this.#last, job, line)) this.#last = this.#groupOf(kind, type, parent, line);
    this.#last.jobs.push(id);
  }

  /** As JSON, to be read by `feedEventsOf`. */
  get text(): string {
    return `[${this.#groups.values().map(groupText).toArray().join(',')}]`;
  }

  #groupOf(kind: Job['kind'], type: string, parent: number | null, line: string): Group {
    const name = `${kind} ${parent} ${type}\n${line}`;
    const known = this.#groups.get(name);
    if (known) return known;
    const fresh = { kind, type, parent, line, jobs: [] };
    this.#groups.set(name, fresh);
    return fresh;
  }
}

const isAlike = (group: Group, { kind, type, parent }: Job, line: string): boolean =>
  group.line === line && group.type === type && group.parent === parent && group.kind === kind;

const groupText = ({ kind, type, parent, jobs, line }: Group): string =>
  `{"kind":"${kind}","type":${JSON.stringify(type)},"parent":${parent},"jobs":[${jobs.join(',')}],"events":${line}}`;

export const feedEventsOf = (text: string): FeedEvent[] =>
  (JSON.parse(text) as Telling[]).flatMap(({ jobs, events, ...about }) =>
    jobs.flatMap((job) => events.map((event) => ({ job, ...about, event }))),
  );
