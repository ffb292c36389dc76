/** The word for how a run stands, more telling than its state: why it waits, or that it was asked to give up. */
import type { RunDetail, RunView } from '../../../src/http/contract.ts';

export type Standing = RunView['standing'];

/** What colours and icons know: the standings, and a cancel that was asked for. */
export type Look = Standing | 'cancelling';

export interface Told {
  readonly look: Look;
  readonly word: string;
}

type Known = Pick<RunView, 'standing' | 'state' | 'hold' | 'cancel' | 'dueAt' | 'attempt' | 'phase'>;

export function tell(run: Known, now: number): Told {
  if (run.state === 'ended') return { look: run.standing, word: run.standing };
  if (run.cancel !== null) return { look: 'cancelling', word: 'cancelling' };
  if (run.state === 'held') return { look: run.hold === 'children' ? 'running' : 'held', word: holdWord(run.hold) };
  if (run.state === 'running') return { look: 'running', word: run.phase === 'run' ? 'running' : phaseWord(run.phase) };
  if (run.attempt > 0 && run.dueAt > now) return { look: 'pending', word: 'retry waits' };
  return { look: 'pending', word: run.dueAt > now ? 'scheduled' : 'pending' };
}

const holdWord = (hold: RunView['hold']): string =>
  hold === 'children' ? 'on its tasks' : hold === 'parent' ? 'waits for parent' : 'paused';

const phaseWord = (phase: RunView['phase']): string => (phase === 'prepare' ? 'preparing' : 'gathering');

/** When it was first begun: `startedAt` tells of the newest attempt, and gathering results is one too. */
export const begunAt = ({ attempts, startedAt }: RunDetail): number | null => attempts.at(-1)?.start ?? startedAt;

export const standings: readonly Standing[] = ['pending', 'held', 'running', 'succeeded', 'failed', 'cancelled'];
export const isOpen = ({ state }: Pick<RunView, 'state'>): boolean => state !== 'ended';
