/** The router. The path and query of the URL determine the content of a page. */
import { signal } from '@preact/signals';

export interface PageUrl {
  /** The path below the dashboard's root, such as `/runs/12`. */
  readonly path: string;
  readonly query: URLSearchParams;
}

export type QueryValue = string | number | boolean | readonly string[] | null | undefined;
export type QueryValues = Readonly<Record<string, QueryValue>>;

/** The dashboard's root path. The built script is in `assets/` below it; in development the root is `/`. */
export const root = import.meta.env.DEV ? '/' : new URL(/* @vite-ignore */ '..', import.meta.url).pathname;

export const currentUrl = signal<PageUrl>(read());

// The icon's address is relative to the document, whose URL changes with every page: make it absolute once.
const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
if (icon !== null) icon.href = new URL(icon.href).href;

addEventListener('popstate', () => (currentUrl.value = read()));

/** Opens links to pages of the dashboard without reloading the document. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const link = (event.target as Element).closest?.('a[href]') as HTMLAnchorElement | null;
  if (link === null || link.target !== '' || link.hasAttribute('download') || !isPageLink(link)) return;
  event.preventDefault();
  if (link.href !== location.href) visit(link.pathname + link.search);
});

/** The URL of a page. */
export function href(path: string, query: QueryValues = {}): string {
  const text = queryText(new URLSearchParams(), query);
  return root + path.replace(/^\//, '') + (text === '' ? '' : `?${text}`);
}

export function go(path: string, query: QueryValues = {}): void {
  visit(href(path, query));
}

/**
 * Changes parameters of the query; null removes one. With `isStep`, adds an entry to the browser's history; otherwise
 * replaces the current entry.
 */
export function setQuery(changes: QueryValues, isStep = true): void {
  const { path, query } = currentUrl.value;
  const text = queryText(query, changes);
  const target = root + path.replace(/^\//, '') + (text === '' ? '' : `?${text}`);
  if (isStep) visit(target);
  else replace(target);
}

/** Returns a parameter of the query; empty: it is missing. */
export const queryOf = (name: string): string => currentUrl.value.query.get(name) ?? '';

/** Returns the parameters of a path that matches a pattern such as `/runs/:id`; null: it does not match. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const [want, have] = [pattern.split('/'), path.split('/')];
  if (want.length !== have.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of want.entries()) {
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(have[index]!);
    else if (part !== have[index]) return null;
  }
  return params;
}

function visit(target: string): void {
  history.pushState(null, '', target);
  currentUrl.value = read();
}

function replace(target: string): void {
  history.replaceState(null, '', target);
  currentUrl.value = read();
}

function read(): PageUrl {
  const path = `/${location.pathname.slice(root.length)}`.replace(/(.)\/+$/, '$1');
  return { path, query: new URLSearchParams(location.search) };
}

const isPageLink = (link: HTMLAnchorElement): boolean =>
  link.origin === location.origin && link.pathname.startsWith(root) && !link.pathname.startsWith(`${root}api/`);

function queryText(before: URLSearchParams, changes: QueryValues): string {
  const query = new URLSearchParams(before);
  for (const [name, value] of Object.entries(changes)) {
    query.delete(name);
    if (value === null || value === undefined || value === '' || value === false) continue;
    if (Array.isArray(value)) for (const one of value) query.append(name, one);
    else query.set(name, String(value));
  }
  return query.toString();
}
