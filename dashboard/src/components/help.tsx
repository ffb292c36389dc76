/** The help: what the keys do on this page. */
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
    <Dialog title="Keys" onClose={() => (isOpen.value = false)} class="help">
      <dl class="keys">
        <div><dt><kbd>Ctrl</kbd> <kbd>K</kbd></dt><dd>Go to, or do</dd></div>
        {rows.map(({ keys, does }) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
        <div><dt><kbd>Esc</kbd></dt><dd>Close what is open</dd></div>
      </dl>
    </Dialog>
  );
}
