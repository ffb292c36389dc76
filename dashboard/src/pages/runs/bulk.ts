/** Actions on many runs: on selected runs one by one, or on all matching runs as a bulk operation of the server. */
import type { RunFilter, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { confirm, type ActionReason } from '../../components/dialog.tsx';
import { showError, showToast, withToast } from '../../components/toast.tsx';
import { number, plural } from '../../format.ts';
import { messageOf } from '../../problem.ts';
import { href } from '../../router.ts';
import { confirmationOf, targetOfMany, type RunAction } from '../../state/run-actions.ts';

const parallelMax = 6;

/** Performs an action on the selected runs after a confirmation; returns whether it was performed. */
export async function actOnSelected(action: RunAction, runs: readonly RunView[]): Promise<boolean> {
  const applicable = runs.filter(action.appliesTo);
  if (applicable.length === 0) {
    showError(new Error(`“${action.title}” does not apply to the selected ${runs.length === 1 ? 'run' : 'runs'}`));
    return false;
  }
  const rest = runs.length - applicable.length;
  const hasTasks = applicable.some(({ tasks, hold }) => tasks !== null || hold === 'children');
  const target = targetOfMany(applicable.length, 'run', hasTasks);
  const note = rest === 0 ? '' : ` It does not apply to ${number(rest)} of the selected runs; they stay unchanged.`;
  const reason = await confirm({ ...confirmationOf(action, target), text: `${action.effect(target)}${note}` });
  if (reason === null) return false;
  const errors = await performEach(action, applicable, reason);
  showToast(`${number(applicable.length - errors.length)} of ${plural(applicable.length, 'run')} ${action.done}`);
  if (errors.length > 0) showError(new Error(`${number(errors.length)} refused: ${errors[0]}`));
  return true;
}

/** Performs an action on each run; returns the messages of those that failed. */
async function performEach(action: RunAction, runs: readonly RunView[], reason: ActionReason): Promise<string[]> {
  const errors: string[] = [];
  const queue = [...runs];
  const work = async (): Promise<void> => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      await action.perform(run.id, reason).catch((error: unknown) => void errors.push(messageOf(error)));
    }
  };
  await Promise.all(Array.from({ length: parallelMax }, work));
  return errors;
}

/**
 * Starts a bulk operation on all matching runs. They are counted first, so that the confirmation shows their number.
 */
export async function actOnAllMatching(action: RunAction, filter: RunFilter): Promise<boolean> {
  const only = action.name === 'retryFailed' ? ({ only: 'failed' } as const) : {};
  const body = { action: action.name === 'retryFailed' ? ('retry' as const) : action.name, filter, ...only };
  const counted = await withToast(() => call('bulk', { body: { ...body, dryRun: true } }));
  if (counted === null) return false;
  const target = targetOfMany(counted.count, 'matching run', false);
  const text = `${action.effect(target)} Runs to which this does not apply stay unchanged.`;
  const reason = await confirm({ ...confirmationOf(action, target), text });
  if (reason === null) return false;
  const started = await withToast(() => call('bulk', { body: { ...body, ...reason } }));
  if (started === null) return false;
  const link = { href: href(`/runs/${started.operation}`), text: 'View operation' };
  showToast(`${action.doing} ${plural(started.count, 'run')}`, link);
  return true;
}
