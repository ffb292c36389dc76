// The documentation site: the pages of docs/, with search and a dark theme. site/build.ts builds it.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitepress';
import { withoutOuterLinks } from './outer-links.ts';
import { sidebar } from './sidebar.ts';

const pages = resolve(import.meta.dirname, '../pages');
const manifest = readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8');
const { version, description } = JSON.parse(manifest) as { version: string; description: string };

export default defineConfig({
  title: 'Stint',
  description,
  lang: 'en',
  // Each version has a folder of its own, so that the pages of older ones stay as they are.
  base: `/${version}/`,
  srcDir: pages,
  outDir: process.env['STINT_SITE_FOLDER']!,
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: true,
  markdown: {
    // Comments of the default themes have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { session: 'console' },
    config: (markdown) => markdown.use(withoutOuterLinks, pages),
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(readFileSync(resolve(pages, 'README.md'), 'utf8')),
    outline: 'deep',
    nav: [{ text: version, link: '/' }],
  },
});
