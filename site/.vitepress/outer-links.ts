// Links of a page to files outside of docs/, such as examples: the site does not have them, so their text stays without a link.
import { relative, resolve, dirname } from 'node:path';
import type MarkdownIt from 'markdown-it';

export function withoutOuterLinks(markdown: MarkdownIt, docs: string): void {
  markdown.core.ruler.push('outer-links', ({ tokens, env }) => {
    const page = (env as { path: string }).path;
    for (const { children } of tokens) {
      let isOuter = false;
      for (const token of children ?? []) {
        if (token.type === 'link_open') isOuter = leavesDocs(token.attrGet('href') ?? '', page, docs);
        if (!isOuter || !token.type.startsWith('link_')) continue;
        Object.assign(token, { type: 'html_inline', tag: '', content: '', nesting: 0 });
      }
    }
  });
}

function leavesDocs(href: string, page: string, docs: string): boolean {
  if (/^[a-z]+:|^#|^\//i.test(href)) return false;
  return relative(docs, resolve(dirname(page), href)).startsWith('..');
}
