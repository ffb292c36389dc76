/** Urgency: who goes first of those that wait. */
import type { Job } from './job.ts';

export const byUrgency = (a: Waiting, b: Waiting): number => b.priority - a.priority || a.due - b.due || a.id - b.id;

type Waiting = Pick<Job, 'priority' | 'due' | 'id'>;
