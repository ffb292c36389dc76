// The sidebar: the links of docs/README.md, under its headings and in its order.
import type { DefaultTheme } from 'vitepress';

export function sidebar(index: string): DefaultTheme.SidebarItem[] {
  return index.split(/^## /m).slice(1).map((section) => ({ text: section.split('\n')[0]!, items: linksIn(section) }));
}

const linksIn = (section: string): DefaultTheme.SidebarItem[] =>
  [...section.matchAll(/\[([^\]]+)\]\(([\w./-]+)\.md\)/g)]
    .filter(([, , path]) => !path!.startsWith('..'))
    .map(([, text, path]) => ({ text: capitalized(text!), link: `/${path}` }));

const capitalized = (text: string): string => text[0]!.toUpperCase() + text.slice(1);
