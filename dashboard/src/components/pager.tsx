/**
 * The links between the pages of a list. A page is requested by the key after which it begins. The URL has the keys of
 * all previous pages, so that Previous works after a reload.
 */
import type { ComponentChildren, JSX } from 'preact';
import { number } from '../format.ts';
import { currentUrl, href, queryOf, setQuery } from '../router.ts';
import { Icon } from './icon.tsx';

/** The key after which the current page begins; undefined: it is the first page. */
export const pageStart = (): number | undefined => {
  const last = queryOf('after').split(',').at(-1);
  return last ? Number(last) : undefined;
};

const keysMax = 40;

export function Pager({ next, count }: { readonly next: number | null; readonly count: number }): JSX.Element | null {
  const keys = queryOf('after').split(',').filter(Boolean);
  if (next === null && keys.length === 0) return null;
  const to = (after: readonly string[]): string => {
    const rest = Object.fromEntries([...currentUrl.value.query].filter(([name]) => name !== 'after'));
    return href(currentUrl.value.path, { ...rest, after: after.slice(-keysMax).join(',') });
  };
  return (
    <nav class="pager" aria-label="Pages">
      <PageLink to={keys.length > 0 ? to([]) : null}>First</PageLink>
      <PageLink to={keys.length > 0 ? to(keys.slice(0, -1)) : null}><Icon name="left" /> Previous</PageLink>
      <span class="faint">Page {keys.length + 1} · {number(count)} rows</span>
      <PageLink to={next === null ? null : to([...keys, String(next)])}>Next <Icon name="right" /></PageLink>
    </nav>
  );
}

const PageLink = ({ to, children }: { readonly to: string | null; children: ComponentChildren }): JSX.Element =>
  to === null
    ? <span class="button" aria-disabled="true">{children}</span>
    : <a class="button" href={to}>{children}</a>;

/** Changes a filter in the query and returns to the first page. */
export const setFilter = (changes: Parameters<typeof setQuery>[0], isStep?: boolean): void =>
  setQuery({ ...changes, after: null }, isStep);
