/** Dialogs: a modal box, and the confirmation of an action, with an optional reason. */
import { signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly class?: string;
}

/** A native modal dialog: the browser keeps the focus inside, and closes the dialog on Escape. */
export function Dialog({ title, onClose, children, class: extra = '' }: DialogProps): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect runs before the browser handles the next key, so that typed text goes into the dialog.
  useLayoutEffect(() => {
    const dialog = box.current!;
    const before = document.activeElement;
    dialog.showModal();
    if (dialog.querySelector('[autofocus]') === null) firstField(dialog)?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const closeOutside = (event: MouseEvent): void => {
    if (event.target === box.current) onClose();
  };
  return (
    <dialog
      ref={box}
      class={`dialog ${extra}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={closeOutside}
    >
      <div class="dialog-body">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="plain" aria-label="Close dialog" onClick={onClose}><Icon name="close" /></button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

const firstField = (dialog: HTMLElement): HTMLElement | null =>
  dialog.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea');

export interface ConfirmRequest {
  readonly title: string;
  /** What the action will do, in a sentence or two. */
  readonly text: ComponentChildren;
  /** The text of the button: the action, such as "Cancel run". */
  readonly action: string;
  /** Whether the action destroys data or cannot be undone. */
  readonly isDanger?: boolean;
}

/** The reason that the user entered in the dialog, if any. It is spread into the body of a request. */
export interface ActionReason {
  readonly why?: string;
}

interface OpenRequest {
  readonly request: ConfirmRequest;
  readonly answer: (reason: ActionReason | null) => void;
}

const openRequest = signal<OpenRequest | null>(null);

/** Asks the user to confirm an action; resolves with null if the dialog was closed without confirming. */
export function confirm(request: ConfirmRequest): Promise<ActionReason | null> {
  return new Promise((resolve) => {
    openRequest.value = {
      request,
      answer: (reason) => {
        openRequest.value = null;
        resolve(reason);
      },
    };
  });
}

/** The dialog of `confirm`, if it is open. The shell renders it once for all pages. */
export function Confirmation(): JSX.Element | null {
  return openRequest.value && <ConfirmDialog key={openRequest.value.request.title} {...openRequest.value} />;
}

function ConfirmDialog({ request, answer }: OpenRequest): JSX.Element {
  const { title, text, action, isDanger = false } = request;
  const [why, setWhy] = useState('');
  const accept = (): void => answer(why.trim() === '' ? {} : { why: why.trim() });
  return (
    <Dialog title={title} onClose={() => answer(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          accept();
        }}
      >
        <div class="dialog-text">{text}</div>
        <label class="field">
          <span>Reason (optional) <em>recorded in the history</em></span>
          <input
            name="why" value={why} maxLength={1000} autocomplete="off" autoFocus
            onInput={({ currentTarget }) => setWhy(currentTarget.value)}
          />
        </label>
        <footer>
          <button type="button" class="button" onClick={() => answer(null)}>Close</button>
          <button type="submit" class="button" data-kind={isDanger ? 'danger' : 'primary'}>{action}</button>
        </footer>
      </form>
    </Dialog>
  );
}
