/** A dialog with a form: its fields, the refusal of what was submitted, and the buttons. */
import type { ComponentChildren, JSX } from 'preact';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  readonly title: string;
  /** The text of the button that submits the form: the action, such as "Create limit". */
  readonly action: string;
  readonly onSubmit: () => unknown;
  readonly onClose: () => void;
  /** Why the last attempt failed; null: there was none, or the fields have changed since. */
  readonly error: string | null;
  /** Whether the form can be submitted. Default: true. */
  readonly isReady?: boolean;
  readonly isDanger?: boolean;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function FormDialog(props: FormDialogProps): JSX.Element {
  const { title, action, onSubmit, onClose, error, isReady = true, isDanger = false, class: extra = '', children } = props;
  return (
    <Dialog title={title} onClose={onClose} class={extra}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) void onSubmit();
        }}
      >
        {children}
        {error !== null && <strong class="field-error" role="alert">{error}</strong>}
        <footer>
          <button type="button" class="button" onClick={onClose}>Close</button>
          <button type="submit" class="button" data-kind={isDanger ? 'danger' : 'primary'} disabled={!isReady}>{action}</button>
        </footer>
      </form>
    </Dialog>
  );
}
