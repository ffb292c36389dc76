/** A text that can be copied, with a button. */
import type { JSX } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { withToast } from './toast.tsx';

interface CopyFieldProps {
  readonly label: string;
  readonly text: string;
}

export function CopyField({ label, text }: CopyFieldProps): JSX.Element {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  const copy = async (): Promise<void> => {
    field.current?.select();
    // Without TLS the browser has no clipboard for scripts, except on this machine; the selected text can be copied by hand.
    if (navigator.clipboard === undefined) throw new Error('The browser does not let this page copy: press Ctrl+C');
    await navigator.clipboard.writeText(text);
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <span class="copy-row">
        <input id={id} ref={field} readOnly value={text} onFocus={({ currentTarget }) => currentTarget.select()} />
        <button type="button" class="button" onClick={() => void withToast(copy, () => `Copied: ${label}`)}>
          <Icon name="copy" /> Copy
        </button>
      </span>
    </div>
  );
}
