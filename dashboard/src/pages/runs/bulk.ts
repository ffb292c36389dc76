/** Deeds to many runs: to those selected one by one, or to all that match, as an operation of the server's own. */
import type { RunFilter, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { confirm } from '../../components/dialog.tsx';
import { attempt, say, sayFailed } from '../../components/toast.tsx';
import { sentenceOf } from '../../problem.ts';
import { href } from '../../router.ts';
import { questionOf, type Deed } from '../../state/run-deeds.ts';
import { number, plural } from '../../words.ts';

const atOnce = 6;

/** Answers whether anything was done. */
export async function toSelected(deed: Deed, runs: readonly RunView[]): Promise<boolean> {
  const fit = runs.filter(deed.fits);
  if (fit.length === 0) {
    sayFailed(new Error(`“${deed.title}” fits none of the ${number(runs.length)} selected`));
    return false;
  }
  const left = runs.length - fit.length;
  const question = questionOf(deed, plural(fit.length, 'run'));
  const rest = left === 0 ? '' : ` It does not fit ${number(left)} of the selected, which are left as they are.`;
  const consent = await confirm({ ...question, says: deed.says + rest });
  if (consent === null) return false;
  const errors: string[] = [];
  const queue = [...fit];
  const work = async (): Promise<void> => {
    for (let run = queue.shift(); run !== undefined; run = queue.shift()) {
      await deed.perform(run.id, consent).catch((error: unknown) => void errors.push(sentenceOf(error)));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  say(`${deed.title}: ${number(fit.length - errors.length)} of ${plural(fit.length, 'run')} done`);
  if (errors.length > 0) sayFailed(new Error(`${number(errors.length)} refused: ${errors[0]}`));
  return true;
}

/** Counts first, and says the number before it asks. */
export async function toAllMatching(deed: Deed, filter: RunFilter): Promise<boolean> {
  const only = deed.name === 'retryFailed' ? ({ only: 'failed' } as const) : {};
  const action = deed.name === 'retryFailed' ? 'retry' : deed.name;
  const counted = await attempt(() => call('bulk', { body: { action, filter, dryRun: true, ...only } }));
  if (counted === null) return false;
  const question = questionOf(deed, `${plural(counted.count, 'run')} that match`);
  const says = `${deed.says} What does not fit is left as it is.`;
  const consent = await confirm({ ...question, says });
  if (consent === null) return false;
  const started = await attempt(() => call('bulk', { body: { action, filter, ...only, ...consent } }));
  if (started === null) return false;
  const link = { href: href(`/runs/${started.operation}`), text: 'Follow it' };
  say(`${deed.title}: ${plural(started.count, 'run')} under way as operation ${started.operation}`, link);
  return true;
}
