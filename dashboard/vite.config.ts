// How the dashboard is built: into the package's own dist, with paths that hold under any prefix.
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // Relative, since a proxy may serve it below a path of its own; the server adds the `../` of deeper pages.
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/dashboard',
    emptyOutDir: true,
    target: 'es2022',
    // A file of its own for everything: the content security policy takes no data in scripts or styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
