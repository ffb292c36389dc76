/** What can be done to a run: when it makes sense, what is asked before, and what is said after. */
import type { RunView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import type { Consent, Question } from '../components/dialog.tsx';
import type { IconName } from '../components/icon.tsx';

export type DeedName = 'cancel' | 'stop' | 'pause' | 'resume' | 'retry' | 'retryFailed' | 'delete';

export interface Deed {
  readonly name: DeedName;
  /** On the button. */
  readonly title: string;
  readonly key: string;
  readonly icon: IconName;
  readonly isDanger: boolean;
  /** What will happen to it, or to each of them. */
  readonly says: string;
  readonly fits: (run: RunView) => boolean;
  /** Answers what to say. */
  readonly perform: (id: number, consent: Consent) => Promise<string>;
}

const params = (id: number): { readonly params: { readonly id: number } } => ({ params: { id } });
const isEnded = (run: RunView): boolean => run.state === 'ended';
const stopWords = {
  terminated: 'was terminated', disowned: 'lost its lease and can write no more', idle: 'had not begun',
};

export const deeds: readonly Deed[] = [
  {
    name: 'retry', title: 'Retry', key: 'r', icon: 'retry', isDanger: false,
    says: 'It is opened again and runs from the start, with all of its tasks.',
    fits: isEnded,
    perform: async (id, body) => `Run ${(await call('retryRun', { ...params(id), body })).id} is open again`,
  },
  {
    name: 'retryFailed', title: 'Retry failed tasks', key: 'f', icon: 'retry', isDanger: false,
    says: 'It is opened again, and only the tasks that failed run once more.',
    fits: (run) => isEnded(run) && (run.tasks?.failed ?? 0) > 0,
    perform: async (id, consent) => {
      await call('retryRun', { ...params(id), body: { ...consent, only: 'failed' } });
      return `The failed tasks of run ${id} are open again`;
    },
  },
  {
    name: 'pause', title: 'Pause', key: 'h', icon: 'pause', isDanger: false,
    says: 'Nobody takes it until it is resumed.',
    fits: (run) => run.state === 'pending',
    perform: async (id, body) => `Run ${(await call('pauseRun', { ...params(id), body })).id} is paused`,
  },
  {
    name: 'resume', title: 'Resume', key: 'h', icon: 'play', isDanger: false,
    says: 'It may be taken again as soon as it is due.',
    fits: (run) => run.state === 'held' && run.hold === 'pause',
    perform: async (id, body) => `Run ${(await call('resumeRun', { ...params(id), body })).id} goes on`,
  },
  {
    name: 'cancel', title: 'Cancel', key: 'c', icon: 'cancelling', isDanger: true,
    says: 'Tasks that wait end at once. Those that run are asked to give up and do so at their next step.',
    fits: (run) => !isEnded(run) && run.cancel === null,
    perform: async (id, body) => {
      const { state } = await call('cancelRun', { ...params(id), body });
      return state === 'ended' ? `Run ${id} is cancelled` : `Run ${id} was asked to give up`;
    },
  },
  {
    name: 'stop', title: 'Stop', key: 's', icon: 'stop', isDanger: true,
    says: 'It ends now, whatever its code is doing. Work that is half done stays half done.',
    fits: (run) => !isEnded(run),
    perform: async (id, body) => {
      const { how } = await call('stopRun', { ...params(id), body });
      return `Run ${id} is stopped: it ${stopWords[how]}`;
    },
  },
  {
    name: 'delete', title: 'Delete', key: '', icon: 'trash', isDanger: true,
    says: 'Its record, its history and its tasks are gone for good.',
    fits: isEnded,
    perform: async (id, query) => {
      await call('deleteRun', { ...params(id), query });
      return `Run ${id} is deleted`;
    },
  },
];

export function questionOf({ title, says, isDanger }: Deed, whom: string): Question {
  return { title: `${title} ${whom}?`, says, verb: title, isDanger };
}
