/** Keyboard shortcuts of the shell and the current page. The help dialog and the palette list them too. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Shortcut {
  /** One key as `KeyboardEvent.key` names it, or two in sequence: `g r`. Empty: the command is only in the palette. */
  readonly keys: string;
  /** The name in the palette and the help dialog, such as "Retry". */
  readonly label: string;
  readonly run: () => void;
  /** Whether the palette omits the shortcut. */
  readonly isKeyOnly?: boolean;
}

/**
 * The registered lists of shortcuts, newest last. Newer ones take precedence, such as those of a page over those of the
 * shell.
 */
const layers = signal<readonly (readonly Shortcut[])[]>([]);

export const shortcuts = (): readonly Shortcut[] => layers.value.toReversed().flat();

/** Registers shortcuts while the component is mounted. */
export function useShortcuts(own: readonly Shortcut[]): void {
  const latest = useRef(own);
  latest.current = own;
  const key = own.map(({ keys, label }) => `${keys} ${label}`).join('\n');
  useLayoutEffect(() => {
    const layer = own.map((shortcut, index) => ({ ...shortcut, run: () => latest.current[index]?.run() }));
    layers.value = [...layers.peek(), layer];
    return () => {
      layers.value = layers.peek().filter((other) => other !== layer);
    };
  }, [key]);
}

const sequenceMs = 1_200;
let lastKey = '';
let lastKeyAt = 0;

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const pair = event.timeStamp - lastKeyAt < sequenceMs ? `${lastKey} ${event.key}` : event.key;
  const found = shortcuts().find(({ keys }) => keys === pair) ?? shortcuts().find(({ keys }) => keys === event.key);
  [lastKey, lastKeyAt] = [event.key, event.timeStamp];
  if (found === undefined || (event.key === 'Enter' && isControl(event.target))) return;
  event.preventDefault();
  lastKey = '';
  found.run();
});

function isTyping({ target }: KeyboardEvent): boolean {
  const element = target as HTMLElement;
  const isField = ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName);
  return element.isContentEditable || (isField && !isCheckbox(element));
}

const isCheckbox = (element: HTMLElement): boolean => (element as HTMLInputElement).type === 'checkbox';

/** Whether the element is a link, button or tab. Enter activates such an element, so Enter is not a shortcut there. */
const isControl = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('a[href], button, [role=tab]') !== null;
