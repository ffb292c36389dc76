/** Enables or disables all definitions that match a filter, in one commit. */
import { call } from '../../api.ts';
import { confirm, type ActionReason } from '../../components/dialog.tsx';
import { showError, withToast } from '../../components/toast.tsx';
import { number, plural } from '../../format.ts';
import type { DefListFilter } from './filters.tsx';

const namesShown = 10;

/** They are found first, so that the confirmation names those that change. Returns whether it was done. */
export async function switchMatching(filter: DefListFilter, enabled: boolean): Promise<boolean> {
  const matching = Object.keys(filter).length === 0 ? { match: '*' } : filter;
  const planned = await withToast(() => call('switchDefs', { body: { ...matching, enabled, dryRun: true } }));
  const reason = planned && await confirmSwitch(planned.names, enabled);
  if (reason === null) return false;
  const body = { ...matching, enabled, ...reason };
  return null !== await withToast(() => call('switchDefs', { body }), ({ names }) => doneText(names.length, enabled));
}

/** Asks for a confirmation and a reason; null: there is nothing to do, or the user has closed the dialog. */
async function confirmSwitch(names: readonly string[], enabled: boolean): Promise<ActionReason | null> {
  const verb = enabled ? 'Enable' : 'Disable';
  if (names.length === 0) {
    showError(new Error(`All of these definitions are ${enabled ? 'enabled' : 'disabled'} already`));
    return null;
  }
  const target = plural(names.length, 'definition');
  const effect = enabled
    ? 'Their schedules continue from now on. Ticks that came due while they were disabled are recorded as skipped.'
    : 'Their schedules stop until you enable them again. Runs that have started continue.';
  const rest = names.length > namesShown ? ` and ${number(names.length - namesShown)} more` : '';
  const text = `${effect} These change: ${names.slice(0, namesShown).join(', ')}${rest}.`;
  return confirm({ title: `${verb} ${target}?`, text, action: `${verb} ${target}` });
}

const doneText = (count: number, enabled: boolean): string =>
  `${enabled ? 'Enabled' : 'Disabled'} ${plural(count, 'definition')}`;
