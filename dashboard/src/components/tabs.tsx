/** Tabs. The open tab is in the URL; the keys `[` and `]` switch to the previous and the next. */
import type { ComponentChildren, JSX } from 'preact';
import { queryOf, setQuery } from '../router.ts';
import { useShortcuts } from '../state/keys.ts';

export interface Tab {
  readonly name: string;
  readonly title: ComponentChildren;
  readonly view: () => JSX.Element | null;
}

interface TabsProps {
  /** The name of the tabs for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  /** The tab that is open if the URL names none. */
  readonly first: string;
}

export function Tabs({ label, tabs, first }: TabsProps): JSX.Element {
  const named = (wanted: string): Tab | undefined => tabs.find(({ name }) => name === wanted);
  const open = named(queryOf('tab')) ?? named(first) ?? tabs[0]!;
  const show = (name: string): void => setQuery({ tab: name }, false);
  const step = (by: number): void => show(tabs[(tabs.indexOf(open) + by + tabs.length) % tabs.length]!.name);
  useShortcuts([
    { keys: ']', label: 'Next tab', run: () => step(1), isKeyOnly: true },
    { keys: '[', label: 'Previous tab', run: () => step(-1), isKeyOnly: true },
    ...tabs.map(({ name }) => ({ keys: '', label: `Show tab ${name}`, run: () => show(name) })),
  ]);
  const onArrow = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    step(by);
    const all = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]');
    all[(tabs.indexOf(open) + by + tabs.length) % tabs.length]?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onArrow}>
        {tabs.map(({ name, title }) => (
          <button
            key={name} type="button" role="tab" id={`tab-${name}`} aria-selected={name === open.name}
            aria-controls="tab-panel" tabIndex={name === open.name ? 0 : -1} onClick={() => show(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div class="tab-panel" id="tab-panel" role="tabpanel" aria-labelledby={`tab-${open.name}`} key={open.name}>
        {open.view()}
      </div>
    </>
  );
}
