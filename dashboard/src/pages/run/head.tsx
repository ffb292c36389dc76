/** The head of a run: its status and name, and buttons and keys for the actions that apply to it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RunDetail } from '../../../../src/http/contract.ts';
import { Chip, RunBadge } from '../../components/badge.tsx';
import { confirm } from '../../components/dialog.tsx';
import { Icon, type IconName } from '../../components/icon.tsx';
import { startRun } from '../../components/start-run.tsx';
import { withToast } from '../../components/toast.tsx';
import { go, href } from '../../router.ts';
import { useShortcuts } from '../../state/keys.ts';
import { confirmationOf, runActions, targetOf, type RunAction } from '../../state/run-actions.ts';
import { isOpen } from '../../state/run-status.ts';
import { mayOperate, mayProduce } from '../../state/session.ts';
import { EditRun } from './edit-run.tsx';
import { FinishRun } from './finish-run.tsx';

interface HeadProps {
  readonly run: RunDetail;
  readonly onDone: () => void;
}

interface HeadButton {
  readonly title: string;
  readonly label: string;
  readonly key: string;
  readonly icon: IconName;
  readonly isDanger: boolean;
  readonly run: () => void;
}

export function Head({ run, onDone }: HeadProps): JSX.Element {
  const [dialog, setDialog] = useState<'edit' | 'finish' | null>(null);
  const buttons = buttonsOf(run, onDone, setDialog);
  const close = (): void => setDialog(null);
  useShortcuts(buttons.map(({ key, label, run: press }) => ({ keys: key, label, run: press })));
  return (
    <header class="page-head run-head">
      <RunBadge run={run} />
      <h1><span>{run.type}</span> <span class="run-id">{run.id}</span></h1>
      <span class="run-marks">
        {run.parent !== null && <span>task of <a href={href(`/runs/${run.parent}`)}>run {run.parent}</a></span>}
        {run.flow !== null && <a class="chip" href={href(`/flows/${run.flow}`)}>flow {run.flow}</a>}
        {run.def !== null && <a class="chip" href={href('/definitions', { name: run.def })}>{run.def}</a>}
        {run.inMemory && <Chip title="Stored in this process only; lost when it stops">in memory</Chip>}
        {Object.entries(run.tags).map(([name, value]) => <Chip key={name} title={`${name}=${value}`}>{name}={value}</Chip>)}
      </span>
      <div class="page-actions">
        {buttons.map(({ title, icon, isDanger, run: press }) => (
          <button
            key={title} type="button" class="button" data-kind={isDanger ? 'danger' : undefined!} onClick={press}
          >
            <Icon name={icon} /> {title}
          </button>
        ))}
      </div>
      {dialog === 'edit' && <EditRun run={run} onClose={close} onDone={onDone} />}
      {dialog === 'finish' && <FinishRun run={run} onClose={close} onDone={onDone} />}
    </header>
  );
}

function buttonsOf(run: RunDetail, onDone: () => void, open: (dialog: 'edit' | 'finish') => void): readonly HeadButton[] {
  const startAgain = (): void => startRun({ type: run.type, input: run.input, priority: run.priority, tags: run.tags });
  const actions = mayOperate.value ? runActions.filter((action) => action.appliesTo(run)) : [];
  return [
    ...(mayProduce.value && run.parent === null ? [{
      title: 'Run again with this input…', label: 'Run again with this input', key: 'l', icon: 'copy' as const,
      isDanger: false, run: startAgain,
    }] : []),
    ...(mayOperate.value && isOpen(run)
      ? [{ title: 'Edit', label: 'Edit this run', key: 'e', icon: 'edit' as const, isDanger: false, run: () => open('edit') }]
      : []),
    ...(mayOperate.value && run.isHandedOff ? [{
      title: 'Finish…', label: 'Complete or fail this run', key: 'm', icon: 'succeeded' as const, isDanger: false,
      run: () => open('finish'),
    }] : []),
    ...actions.map((action) => ({
      title: action.title, label: action.name === 'retryFailed' ? action.title : `${action.title} this run`,
      key: action.key, icon: action.icon, isDanger: action.isDanger, run: () => void perform(action, run, onDone),
    })),
  ];
}

export async function perform(action: RunAction, run: RunDetail, onDone: () => void): Promise<void> {
  const reason = await confirm(confirmationOf(action, targetOf(run)));
  if (reason === null) return;
  const text = await withToast(() => action.perform(run.id, reason), (done) => done);
  if (text === null) return;
  if (action.name === 'delete') go('/runs');
  else onDone();
}
