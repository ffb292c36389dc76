/** The palette: every page and every deed of this page by name, and a run by its number. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { go } from '../router.ts';
import { shortcuts } from '../state/keys.ts';
import { Dialog } from './dialog.tsx';

interface Choice {
  readonly says: string;
  readonly keys: string;
  readonly run: () => void;
}

const isOpen = signal(false);
export const openPalette = (): void => void (isOpen.value = true);

document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
  event.preventDefault();
  openPalette();
});

/** Stands once in the shell. */
export function Palette(): JSX.Element | null {
  return isOpen.value ? <PaletteDialog onClose={() => (isOpen.value = false)} /> : null;
}

function PaletteDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const choices = choicesFor(text.trim());
  const chosen = Math.min(index, choices.length - 1);
  const take = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    // The dialog gives the focus back first.
    setTimeout(choice.run);
  };
  const walk = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    setIndex((chosen + by + choices.length) % choices.length);
  };
  return (
    <Dialog title="Go to, or do" onClose={onClose} class="palette">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          take(choices[chosen]);
        }}
      >
        <input
          class="palette-input" role="combobox" aria-label="Page, deed or run number" aria-expanded="true" autoFocus
          aria-controls="palette-list" aria-activedescendant={`palette-${chosen}`} value={text} autocomplete="off"
          placeholder="A page, something to do, or the number of a run" onKeyDown={walk}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setIndex(0);
          }}
        />
        <ul id="palette-list" role="listbox" aria-label="Choices">
          {choices.map((choice, at) => (
            <li
              key={choice.says} id={`palette-${at}`} role="option" aria-selected={at === chosen}
              onClick={() => take(choice)} onPointerMove={() => setIndex(at)}
            >
              <span>{choice.says}</span>
              {choice.keys !== '' && <kbd>{choice.keys}</kbd>}
            </li>
          ))}
          {choices.length === 0 && <li class="faint" role="option" aria-selected="false">Nothing of that name</li>}
        </ul>
      </form>
    </Dialog>
  );
}

const searchFor = (text: string): Choice => ({
  says: `Search runs for “${text}”`, keys: '', run: () => go('/runs', { search: text }),
});

function choicesFor(text: string): Choice[] {
  const words = text.toLowerCase().split(/\s+/);
  const named = shortcuts()
    .filter(({ isOnlyKey, does }) => isOnlyKey !== true && words.every((word) => does.toLowerCase().includes(word)))
    .map(({ does, keys, run }) => ({ says: does, keys, run }))
    // What has a key is wanted more often.
    .sort((a, b) => Number(b.keys !== '') - Number(a.keys !== ''));
  const isId = /^\d{1,16}$/.test(text);
  return [
    ...(isId ? [{ says: `Open run ${text}`, keys: '', run: () => go(`/runs/${text}`) }] : []),
    ...named,
    ...(text === '' ? [] : [searchFor(text)]),
  ];
}
