/** One number with its title, in a list with the class `figures`. */
import type { ComponentChildren, JSX } from 'preact';

interface FigureProps {
  readonly title: string;
  readonly note?: string;
  readonly link?: string;
  readonly children: ComponentChildren;
}

export function Figure({ title, note, link, children }: FigureProps): JSX.Element {
  return (
    <div>
      <dt>{title}</dt>
      <dd>
        {link === undefined ? children : <a href={link}>{children}</a>}
        {note !== undefined && <small>{note}</small>}
      </dd>
    </div>
  );
}
