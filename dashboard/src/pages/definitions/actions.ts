/** The actions on a definition that the current role may perform. */
import type { DefView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { confirm } from '../../components/dialog.tsx';
import { startRun } from '../../components/start-run.tsx';
import { withToast } from '../../components/toast.tsx';
import { go } from '../../router.ts';
import type { Shortcut } from '../../state/keys.ts';
import { mayOperate, mayProduce, me } from '../../state/session.ts';

export interface DefinitionAction extends Shortcut {
  readonly icon: 'play' | 'pause' | 'edit' | 'copy' | 'retry' | 'trash';
  readonly kind: 'primary' | 'danger' | undefined;
}

/** A dialog of the page of a definition. */
export type DefinitionDialog = 'edit' | 'clone' | 'rename';

export function actionsOf(
  def: DefView,
  reload: () => void,
  open: (dialog: DefinitionDialog) => void,
): readonly DefinitionAction[] {
  const { name } = def;
  const params = { name };
  const input = me.value?.seesPayloads === true ? { type: def.type, input: def.spec.params } : {};
  return [
    ...(!mayProduce.value || !def.spec.manualRuns ? [] : [
      action('n', 'Run now', 'play', () => startRun({ def: name, ...input }), 'primary'),
    ]),
    ...(!mayOperate.value ? [] : [
      def.enabled
        ? action('h', 'Disable', 'pause', () => disable(params, reload))
        : action('h', 'Enable', 'play', () => enable(params, reload)),
      action('e', 'Edit', 'edit', () => open('edit')),
      action('', 'Clone', 'copy', () => open('clone')),
      action('', 'Rename', 'edit', () => open('rename')),
      ...(def.override === null ? [] : [action('', 'Reset overrides', 'retry', () => reset(params, reload), 'danger')]),
      action('', 'Delete', 'trash', () => remove(params), 'danger'),
    ]),
  ];
}

const action = (
  keys: string, label: string, icon: DefinitionAction['icon'], run: () => unknown, kind?: DefinitionAction['kind'],
): DefinitionAction => ({ keys, label, icon, run: () => void run(), kind });

type Params = { readonly name: string };

async function enable(params: Params, reload: () => void): Promise<void> {
  const text = 'Its schedules continue from now on. Ticks that came due while it was disabled are recorded as skipped.';
  const body = await confirm({ title: `Enable ${params.name}?`, text, action: 'Enable' });
  if (body === null) return;
  await withToast(() => call('enableDef', { params, body }), () => `Enabled ${params.name}`);
  reload();
}

async function disable(params: Params, reload: () => void): Promise<void> {
  const text = 'Its schedules stop until you enable it again. Runs that have started continue.';
  const body = await confirm({ title: `Disable ${params.name}?`, text, action: 'Disable' });
  if (body === null) return;
  await withToast(() => call('disableDef', { params, body }), () => `Disabled ${params.name}`);
  reload();
}

async function reset(params: Params, reload: () => void): Promise<void> {
  const text = 'All overrides are removed; the declared settings apply from now on.';
  const title = `Reset the overrides of ${params.name}?`;
  const query = await confirm({ title, text, action: 'Reset overrides', isDanger: true });
  if (query === null) return;
  await withToast(() => call('resetDef', { params, query }), () => `Reset the overrides of ${params.name}`);
  reload();
}

async function remove(params: Params): Promise<void> {
  const title = `Delete ${params.name}?`;
  const text = 'Its schedules end; its runs stay. If code still declares it, it returns at the next start.';
  const query = await confirm({ title, text, action: 'Delete definition', isDanger: true });
  if (query === null) return;
  const done = (): string => `Deleted definition ${params.name}`;
  const deleted = await withToast(() => call('deleteDef', { params, query }), done);
  if (deleted !== null) go('/definitions');
}
