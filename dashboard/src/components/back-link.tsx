/** The link from a detail page back to its list. */
import type { JSX } from 'preact';
import { href } from '../router.ts';
import { Icon } from './icon.tsx';

export function BackLink({ path, title }: { readonly path: string; readonly title: string }): JSX.Element {
  return <a class="back-link" href={href(path)}><Icon name="left" />{title}</a>;
}
