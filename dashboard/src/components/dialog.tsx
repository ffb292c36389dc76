/** Dialogs: a modal box, and the question before something is done, with room for a reason. */
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

/** The browser keeps the focus inside and closes it on Escape. */
export function Dialog({ title, onClose, children, class: extra = '' }: DialogProps): JSX.Element {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the browser paints, so that what is typed next is typed into it.
  useLayoutEffect(() => {
    const dialog = box.current!;
    const from = document.activeElement;
    dialog.showModal();
    if (dialog.querySelector('[autofocus]') === null) firstField(dialog)?.focus();
    return () => {
      dialog.close();
      if (from instanceof HTMLElement) from.focus();
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
          <button type="button" class="plain" aria-label="Close" onClick={onClose}><Icon name="close" /></button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

const firstField = (dialog: HTMLElement): HTMLElement | null =>
  dialog.querySelector<HTMLElement>('input:not([type=hidden]), select, textarea');

export interface Question {
  readonly title: string;
  /** What will happen, in a sentence or two. */
  readonly says: ComponentChildren;
  /** The word on the button, a verb. */
  readonly verb: string;
  /** It destroys or cannot be taken back. */
  readonly isDanger?: boolean;
}

export interface Consent {
  /** Ready to be spread into what is asked of the server. */
  readonly why?: string;
}

const asked = signal<{ readonly question: Question; readonly answer: (consent: Consent | null) => void } | null>(null);

/** Asks before something is done; null: better not. */
export function confirm(question: Question): Promise<Consent | null> {
  return new Promise((resolve) => {
    asked.value = {
      question,
      answer: (consent) => {
        asked.value = null;
        resolve(consent);
      },
    };
  });
}

/** Stands once in the shell. */
export function Confirmation(): JSX.Element | null {
  return asked.value && <ConfirmDialog key={asked.value.question.title} {...asked.value} />;
}

function ConfirmDialog({ question, answer }: NonNullable<typeof asked.value>): JSX.Element {
  const { title, says, verb, isDanger = false } = question;
  const [why, setWhy] = useState('');
  const consent = (): void => answer(why.trim() === '' ? {} : { why: why.trim() });
  return (
    <Dialog title={title} onClose={() => answer(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          consent();
        }}
      >
        <div class="dialog-text">{says}</div>
        <label class="field">
          <span>Reason <em>kept with the history</em></span>
          <input
            name="why" value={why} maxLength={1000} autocomplete="off" placeholder="Why is this done?" autoFocus
            onInput={({ currentTarget }) => setWhy(currentTarget.value)}
          />
        </label>
        <footer>
          <button type="button" class="button" onClick={() => answer(null)}>Do nothing</button>
          <button type="submit" class="button" data-kind={isDanger ? 'danger' : 'primary'}>{verb}</button>
        </footer>
      </form>
    </Dialog>
  );
}
