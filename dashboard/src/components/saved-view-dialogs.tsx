/** The dialogs of saved views: one saves the current query, the other shows, renames or deletes a view. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SavedViewView } from '../../../src/http/contract.ts';
import { messageOf } from '../problem.ts';
import { deleteView, renameView, savedViews, saveView, viewHref, type ViewPage } from '../state/saved-views.ts';
import { mayOperate } from '../state/session.ts';
import { CopyField } from './copy-field.tsx';
import { confirm, Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { FormDialog } from './form-dialog.tsx';
import { Time } from './time.tsx';
import { showToast, withToast } from './toast.tsx';

interface SaveProps {
  readonly page: ViewPage;
  readonly query: string;
  readonly onClose: () => void;
}

export function SaveView({ page, query, onClose }: SaveProps): JSX.Element {
  const { name, why, error, submit, fields } = useNameForm('', onClose);
  const replaced = savedViews.value.find((view) => view.name === name);
  const save = (): Promise<void> => submit(
    () => saveView(name, { page, query, version: replaced?.version ?? 0, ...why }),
    replaced === undefined ? `Saved the view ${name}` : `Replaced the view ${name}`,
  );
  return (
    <FormDialog
      title="Save view" action={replaced === undefined ? 'Save view' : 'Replace view'} onSubmit={save} onClose={onClose}
      error={error} isReady={name !== ''}
    >
      <p class="dialog-text">Everybody who can read this page sees the view.</p>
      {fields}
      {replaced !== undefined && (
        <p class="faint">This replaces the view of the page {replaced.page} that {replaced.by} saved.</p>
      )}
    </FormDialog>
  );
}

interface DetailsProps {
  readonly view: SavedViewView;
  readonly onClose: () => void;
}

/** People who may only read get the link. */
export function ViewDetails({ view, onClose }: DetailsProps): JSX.Element {
  if (mayOperate.value) return <EditView view={view} onClose={onClose} />;
  return <Dialog title={`Saved view ${view.name}`} onClose={onClose}><div class="fields"><Facts view={view} /></div></Dialog>;
}

function EditView({ view, onClose }: DetailsProps): JSX.Element {
  const { name, why, error, submit, fields } = useNameForm(view.name, onClose);
  const rename = (): Promise<void> => submit(() => renameView(view.name, { name, ...why }), `Renamed ${view.name} to ${name}`);
  return (
    <FormDialog
      title={`Saved view ${view.name}`} action="Rename view" onSubmit={rename} onClose={onClose} error={error}
      isReady={name !== '' && name !== view.name}
    >
      <Facts view={view} />
      {fields}
      <p>
        <button type="button" class="button" data-kind="danger" onClick={() => void remove(view, onClose)}>Delete view</button>
      </p>
    </FormDialog>
  );
}

const Facts = ({ view }: Pick<DetailsProps, 'view'>): JSX.Element => (
  <>
    <p class="faint">Saved by {view.by}, <Time at={view.at} />.</p>
    <CopyField label="Link" text={new URL(viewHref(view), location.href).href} />
  </>
);

async function remove({ name }: SavedViewView, onClose: () => void): Promise<void> {
  onClose();
  const text = 'It disappears for everybody. Links to it still work, because they contain its query.';
  const reason = await confirm({ title: `Delete the view ${name}?`, text, action: 'Delete view', isDanger: true });
  if (reason !== null) await withToast(() => deleteView(name, reason), () => `Deleted the view ${name}`);
}

interface NameForm {
  readonly name: string;
  /** The reason as a part of a request. */
  readonly why: { readonly why?: string };
  readonly error: string | null;
  readonly fields: JSX.Element;
  /** Sends a request; closes the dialog with a toast, or shows why it was refused. */
  readonly submit: (send: () => Promise<void>, done: string) => Promise<void>;
}

/** A form with a name and a reason. */
function useNameForm(first: string, onClose: () => void): NameForm {
  const [name, setName] = useState(first);
  const [why, setWhy] = useState('');
  const [error, setError] = useState<string | null>(null);
  const typeName = (typed: string): void => {
    setError(null);
    setName(typed);
  };
  return {
    name: name.trim(),
    why: why.trim() === '' ? {} : { why: why.trim() },
    error,
    fields: (
      <>
        <TextField label="Name" name="name" value={name} onInput={typeName} isRequired />
        <TextField label="Reason (optional)" hint="recorded in the audit" name="why" value={why} onInput={setWhy} />
      </>
    ),
    submit: async (send, done) => {
      try {
        await send();
        showToast(done);
        onClose();
      } catch (refused) {
        setError(messageOf(refused));
      }
    },
  };
}
