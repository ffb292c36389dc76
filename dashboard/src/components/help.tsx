/** The help dialog: the keyboard shortcuts of the current page. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { shortcuts } from '../state/keys.ts';
import { Dialog } from './dialog.tsx';

const isOpen = signal(false);
export const openHelp = (): void => void (isOpen.value = true);

export function Help(): JSX.Element | null {
  if (!isOpen.value) return null;
  const rows = shortcuts().filter(({ keys }) => keys !== '');
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isOpen.value = false)} class="help">
      <dl class="keys">
        <div><dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt><dd>Command palette</dd></div>
        {rows.map(({ keys, label }) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{label}</dd>
          </div>
        ))}
        <div><dt><kbd>Esc</kbd></dt><dd>Close the dialog or menu</dd></div>
      </dl>
    </Dialog>
  );
}
