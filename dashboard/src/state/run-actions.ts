/** The actions on a run: when each applies, what its dialog says, and what its toast says. */
import type { RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import type { ActionReason, ConfirmRequest } from '../components/dialog.tsx';
import type { IconName } from '../components/icon.tsx';
import { plural } from '../format.ts';

export type RunActionName = 'cancel' | 'stop' | 'pause' | 'resume' | 'retry' | 'retryFailed' | 'delete';

/** The runs that an action is applied to, as the texts of its dialog describe them. */
export interface ActionTarget {
  /** Such as "run 12" or "3 runs". */
  readonly name: string;
  readonly isOne: boolean;
  readonly hasTasks: boolean;
}

export interface RunAction {
  readonly name: RunActionName;
  /** The text of the button. */
  readonly title: string;
  /** "Cancelling", for the toast of a bulk operation. */
  readonly doing: string;
  /** "cancelled", for the toast of several runs. */
  readonly done: string;
  readonly key: string;
  readonly icon: IconName;
  readonly isDanger: boolean;
  /** What the action will do, in one or two sentences. */
  readonly effect: (target: ActionTarget) => string;
  readonly appliesTo: (run: RunView) => boolean;
  /** Performs the action on a run; returns the text of the toast. */
  readonly perform: (id: number, reason: ActionReason) => Promise<string>;
}

const params = (id: number): { readonly params: { readonly id: number } } => ({ params: { id } });
const isEnded = (run: RunView): boolean => run.state === 'ended';
const stopOutcomes = {
  terminated: 'its handler was terminated',
  disowned: 'its lease was revoked, so it can no longer write',
  idle: 'it had not started',
};

export const runActions: readonly RunAction[] = [
  {
    name: 'retry', title: 'Retry', doing: 'Retrying', done: 'retried', key: 'r', icon: 'retry', isDanger: false,
    effect: (target) => `${it(target)} runs again from the start${target.hasTasks ? ', with all of its tasks' : ''}.`,
    appliesTo: isEnded,
    perform: async (id, body) => `Retrying run ${(await call('retryRun', { ...params(id), body })).id}`,
  },
  {
    name: 'retryFailed', title: 'Retry failed tasks', doing: 'Retrying the failed tasks of', done: 'retried', key: 'f',
    icon: 'retry', isDanger: false,
    effect: () => 'Only the tasks that failed run again. Tasks that succeeded keep their results.',
    appliesTo: (run) => isEnded(run) && (run.tasks?.failed ?? 0) > 0,
    perform: async (id, reason) => {
      await call('retryRun', { ...params(id), body: { ...reason, only: 'failed' } });
      return `Retrying the failed tasks of run ${id}`;
    },
  },
  {
    name: 'pause', title: 'Pause', doing: 'Pausing', done: 'paused', key: 'h', icon: 'pause', isDanger: false,
    effect: (target) => `${it(target)} waits until you resume it.`,
    appliesTo: (run) => run.state === 'pending',
    perform: async (id, body) => `Paused run ${(await call('pauseRun', { ...params(id), body })).id}`,
  },
  {
    name: 'resume', title: 'Resume', doing: 'Resuming', done: 'resumed', key: 'h', icon: 'play', isDanger: false,
    effect: (target) => `${it(target)} starts as soon as it is due and a worker is free.`,
    appliesTo: (run) => run.state === 'held' && run.hold === 'pause',
    perform: async (id, body) => `Resumed run ${(await call('resumeRun', { ...params(id), body })).id}`,
  },
  {
    name: 'cancel', title: 'Cancel', doing: 'Cancelling', done: 'cancelled', key: 'c', icon: 'cancelling',
    isDanger: true,
    effect: ({ isOne, hasTasks }) => {
      if (isOne && !hasTasks) return 'The handler is asked to stop; it ends at its next checkpoint.';
      const waiting = hasTasks ? 'tasks' : 'runs';
      return `Waiting ${waiting} end at once. Running ones are asked to stop; they end at their next checkpoint.`;
    },
    appliesTo: (run) => !isEnded(run) && run.cancel === null,
    perform: async (id, body) => {
      const { state } = await call('cancelRun', { ...params(id), body });
      return state === 'ended' ? `Cancelled run ${id}` : `Cancelling run ${id}`;
    },
  },
  {
    name: 'stop', title: 'Stop', doing: 'Stopping', done: 'stopped', key: 's', icon: 'stop', isDanger: true,
    effect: (target) => `${it(target)} ends now, whatever its handler is doing. Unfinished work is not rolled back.`,
    appliesTo: (run) => !isEnded(run),
    perform: async (id, body) => {
      const { how } = await call('stopRun', { ...params(id), body });
      return `Stopped run ${id}: ${stopOutcomes[how]}`;
    },
  },
  {
    name: 'delete', title: 'Delete', doing: 'Deleting', done: 'deleted', key: '', icon: 'trash', isDanger: true,
    effect: ({ hasTasks }) => `Records, history${hasTasks ? ', tasks' : ''} and logs are deleted permanently.`,
    appliesTo: isEnded,
    perform: async (id, query) => {
      await call('deleteRun', { ...params(id), query });
      return `Deleted run ${id}`;
    },
  },
];

export const runAction = (name: RunActionName): RunAction => runActions.find((action) => action.name === name)!;

export const targetOf = ({ id, tasks, hold }: RunView): ActionTarget =>
  ({ name: `run ${id}`, isOne: true, hasTasks: tasks !== null || hold === 'children' });

/** The target of an action on several runs. `noun` is "run" or "matching run", for example. */
export const targetOfMany = (count: number, noun: string, hasTasks: boolean): ActionTarget =>
  ({ name: plural(count, noun), isOne: count === 1, hasTasks });

const it = ({ isOne }: ActionTarget): string => (isOne ? 'It' : 'Each');

export function confirmationOf({ name, title, effect, isDanger }: RunAction, target: ActionTarget): ConfirmRequest {
  // Most buttons add a noun, as in "Cancel run": "Cancel" alone could mean the dialog. "Retry failed tasks" already has
  // one.
  const isWhole = name === 'retryFailed';
  return {
    title: `${title}${isWhole ? ' of' : ''} ${target.name}?`,
    text: effect(target),
    action: isWhole ? title : `${title} ${target.isOne ? 'run' : 'runs'}`,
    isDanger,
  };
}
