// A page of the documentation as the checks see it: its fences, its headings, its links.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..', '..');

export interface Fence {
  /** The language, and what the page says of the block beside it. */
  readonly info: string;
  readonly language: string;
  readonly code: string;
  /** Of its first line of code, from 1. */
  readonly line: number;
}

export interface Page {
  /** From the root of the repository: `docs/guides/define.md`. */
  readonly path: string;
  readonly text: string;
  readonly fences: readonly Fence[];
  /** As a forge makes them of its headings. */
  readonly anchors: ReadonlySet<string>;
  /** Relative ones; the text after `#` apart. */
  readonly links: readonly { readonly to: string; readonly anchor: string | null }[];
}

const top = ['*.md', 'bench/*.md', 'dashboard/*.md'];

/** Every page of the repository. */
export const readPages = (): Page[] =>
  globSync([...top, 'docs/**/*.md', 'examples/**/*.md'], { cwd: root }).sort().map(readPage);

export const readPage = (path: string): Page => parsePage(path, readFileSync(join(root, path), 'utf8'));

export function parsePage(path: string, text: string): Page {
  const prose = text.replace(/^```[^]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');
  return { path, text, fences: fencesOf(text), anchors: anchorsOf(text), links: linksOf(path, prose) };
}

function fencesOf(text: string): Fence[] {
  return [...text.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(({ 1: info = '', 2: code = '', index }) => ({
    info: info.trim(),
    language: info.trim().split(' ')[0]!,
    code,
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

function anchorsOf(text: string): Set<string> {
  const headings = [...text.replace(/^```[^]*?^```$/gm, '').matchAll(/^#{1,6} (.+)$/gm)].map(([, title]) => title!);
  const seen = new Map<string, number>();
  return new Set(headings.map((title) => {
    const slug = title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    return times === 0 ? slug : `${slug}-${times}`;
  }));
}

function linksOf(path: string, prose: string): Page['links'] {
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
  return targets.filter((target) => !/^[a-z]+:/.test(target)).map((target) => {
    const [file = '', anchor = null] = target.split('#');
    return { to: file === '' ? path : posix.join(dirname(path), file), anchor };
  });
}

/** The blocks of a page that make one program, each at its own line: what is wrong there has the page's line number. */
export function programOf(fences: readonly Fence[]): string {
  const lines: string[] = [];
  for (const { code, line } of fences) {
    while (lines.length < line - 1) lines.push('');
    lines.push(...code.trimEnd().split('\n'));
  }
  return `${lines.join('\n')}\n`;
}
