// The build: into dist/dashboard, with relative paths, so that it works under any prefix.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Relative: a proxy may serve it under a path. The server adds `../` for pages below the root.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // No inlined assets: the content security policy refuses data URLs in scripts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
