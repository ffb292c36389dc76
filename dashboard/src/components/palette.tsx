/** The command palette: every page and every action of the current page by name, and runs by number. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { go } from '../router.ts';
import { runIdOf } from '../search.ts';
import { shortcuts } from '../state/keys.ts';
import { Dialog } from './dialog.tsx';

interface Command {
  readonly label: string;
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

/** The palette, if it is open. The shell renders it once for all pages. */
export function Palette(): JSX.Element | null {
  return isOpen.value ? <PaletteDialog onClose={() => (isOpen.value = false)} /> : null;
}

function PaletteDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const [index, setIndex] = useState(0);
  const commands = commandsFor(text.trim());
  const active = Math.min(index, commands.length - 1);
  const execute = (command: Command | undefined): void => {
    if (command === undefined) return;
    onClose();
    // Runs the command after the closed dialog has returned the focus to the page.
    setTimeout(command.run);
  };
  const onArrow = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    setIndex((active + by + commands.length) % commands.length);
  };
  return (
    <Dialog title="Command palette" onClose={onClose} class="palette">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          execute(commands[active]);
        }}
      >
        <input
          class="palette-input" role="combobox" aria-label="Page, action or run number" aria-expanded="true" autoFocus
          aria-controls="palette-list" aria-activedescendant={`palette-${active}`} value={text} autocomplete="off"
          placeholder="Type a page, an action or a run number" onKeyDown={onArrow}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setIndex(0);
          }}
        />
        <CommandList commands={commands} active={active} onHover={setIndex} onExecute={execute} />
      </form>
    </Dialog>
  );
}

interface CommandListProps {
  readonly commands: readonly Command[];
  readonly active: number;
  readonly onHover: (index: number) => void;
  readonly onExecute: (command: Command) => void;
}

function CommandList({ commands, active, onHover, onExecute }: CommandListProps): JSX.Element {
  return (
    <ul id="palette-list" role="listbox" aria-label="Commands">
      {commands.map((command, index) => (
        <li
          key={command.label} id={`palette-${index}`} role="option" aria-selected={index === active}
          onClick={() => onExecute(command)} onPointerMove={() => onHover(index)}
        >
          <span>{command.label}</span>
          {command.keys !== '' && <kbd>{command.keys}</kbd>}
        </li>
      ))}
      {commands.length === 0 && <li class="faint" role="option" aria-selected="false">No matching command</li>}
    </ul>
  );
}

const searchFor = (text: string): Command => ({
  label: `Search runs for “${text}”`, keys: '', run: () => go('/runs', { search: text }),
});

function commandsFor(text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/);
  const named = shortcuts()
    .filter(({ isKeyOnly, label }) => isKeyOnly !== true && words.every((word) => label.toLowerCase().includes(word)))
    // Commands with a key come first, because they are used more often than commands without one.
    .toSorted((a, b) => Number(b.keys !== '') - Number(a.keys !== ''));
  const id = runIdOf(text);
  return [
    ...(id === null ? [] : [{ label: `Open run ${id}`, keys: '', run: () => go(`/runs/${id}`) }]),
    ...named,
    ...(text === '' ? [] : [searchFor(text)]),
  ];
}
