// The goals: rare events that a campaign must have reached. Without them it proves too little.
import type { Change } from '../../src/model/change.ts';
import type { Event } from '../../src/model/event.ts';
import type { Job } from '../../src/model/job.ts';
import { remoteType } from './remote-work.ts';

export const goalNames = [
  'fence rejection', 'takeover', 'commit unknown, then tried again', 'deposed leader write rejected',
  'catch-up of more than one tick', 'recorded skip', 'cancel before completion', 'completion before cancel',
  'poison budget reached', 'hard limit reached', 'parent barrier hit by two last children',
  'restart under the same name', 'store outage longer than a lease', 'run retried by hand', 'schedule edited',
  'handed off and lapsed', 'queued job handed out again', 'completed with its writes', 'lease lost in complete',
  'request of the inbox taken', 'request of the inbox refused',
  'step refused', 'question answered', 'question timed out', 'answer refused by the handler',
  'limit changed by an operator', 'limit paused', 'limit closed by a handler',
  'turn before an older job of another key', 'child run succeeded',
  'version rolled back', 'payload of an older version upgraded', 'name of a living instance refused',
  'run of a follower succeeded', 'run of a follower cancelled by its rule', 'follower defined again',
  'turn of a run before an older task of another run', 'claim answered after a pause longer than the lease',
  'run of a remote worker succeeded', 'remote worker lost its lease', 'remote claim answered after a pause longer than the lease',
  'refused by the disk, then written', 'written after the file was locked for longer than a lease',
] as const;

/** Goals that no other store has. */
export const goalNamesOnPostgres = ['commit lost in a failover, then made again'] as const;

export type GoalName = (typeof goalNames)[number] | (typeof goalNamesOnPostgres)[number];

export class Goals {
  readonly reached = new Map<GoalName, number>();
  readonly #lapsedFrom = new Map<number, string>();

  reach(goal: GoalName): void {
    this.reached.set(goal, (this.reached.get(goal) ?? 0) + 1);
  }

  /** `openChildren`: open children of each parent after these changes. */
  record(changes: readonly Change[], openChildren: ReadonlyMap<number, number>): void {
    for (const { before, after, events } of changes) {
      for (const event of events) this.#recordEvent((after ?? before)!, event);
    }
    this.#recordBarrier(changes, openChildren);
  }

  #recordEvent(job: Job, event: Event): void {
    switch (event.kind) {
      case 'lapsed':
        this.#lapsedFrom.set(job.id, event.holder);
        if (event.holder.startsWith('token ')) this.reach('handed off and lapsed');
        if (job.type === remoteType) this.reach('remote worker lost its lease');
        if (job.kind === 'bedrock') this.reach('queued job handed out again');
        break;
      case 'claimed': {
        const from = this.#lapsedFrom.get(job.id);
        if (from !== undefined && from !== event.holder) this.reach('takeover');
        this.#lapsedFrom.delete(job.id);
        break;
      }
      case 'ticked':
        if (event.ticks.length > 1) this.reach('catch-up of more than one tick');
        if (event.ticks.some((tick) => 'skipped' in tick)) this.reach('recorded skip');
        break;
      case 'cancelled':
        if (event.late === 'succeeded') this.reach('cancel before completion');
        break;
      case 'failed':
        if (event.error.code === 'crashed') this.reach('poison budget reached');
        if (event.error.code === 'timed out') this.reach('hard limit reached');
        break;
      case 'retried':
        if (event.error.code === 'timed out') this.reach('hard limit reached');
        break;
      case 'reopened':
        this.reach('run retried by hand');
        break;
      case 'answered':
        this.reach('question answered');
        break;
      case 'unanswered':
        this.reach(event.cause === 'timeout' ? 'question timed out' : 'answer refused by the handler');
        break;
      case 'edited':
        if (job.kind === 'def') this.reach('schedule edited');
        break;
      case 'succeeded':
        if (job.kind === 'run' && job.parent !== null) this.reach('child run succeeded');
        if (job.type === remoteType) this.reach('run of a remote worker succeeded');
        break;
      default:
    }
  }

  /** The last two open children of a parent end in one commit. */
  #recordBarrier(changes: readonly Change[], openChildren: ReadonlyMap<number, number>): void {
    const ended = changes.flatMap(({ before, after }) =>
      after?.state === 'ended' && before?.state !== 'ended' && after.parent !== null ? [after.parent] : []);
    const pairs = new Set(ended.filter((parent, index) => ended.indexOf(parent) !== index));
    for (const parent of pairs) if (!openChildren.has(parent)) this.reach('parent barrier hit by two last children');
  }
}
