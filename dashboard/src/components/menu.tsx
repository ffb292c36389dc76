/** A button with a drop-down menu. It closes on Escape, and on a click or focus outside. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  readonly title: ComponentChildren;
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Menu({ title, label, children }: MenuProps): JSX.Element {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event): void => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      const isOutside = !(event instanceof KeyboardEvent) && !box.current?.contains(event.target as Node);
      if (isEscape || isOutside) box.current?.removeAttribute('open');
    };
    const kinds = ['pointerdown', 'focusin', 'keydown'];
    for (const kind of kinds) document.addEventListener(kind, close);
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, close);
    };
  }, []);
  return (
    <details class="menu-box" ref={box}>
      <summary class="button" aria-label={label}>{title}</summary>
      <div class="menu-list" onClick={({ target }) => {
        if ((target as Element).closest('button, a') !== null) box.current?.removeAttribute('open');
      }}>
        {children}
      </div>
    </details>
  );
}
