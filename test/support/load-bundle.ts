// A preloaded module: loads each file of src from the bundle beside this module, with stack traces of the sources. In a
// process that has a mutant it does nothing, because mutants are planted into the sources.
import { registerHooks } from 'node:module';

// This module is part of the bundle: node_modules/.cache/stint-bundles/HASH/load-bundle.js.
const sources = new URL('../../../../src/', import.meta.url).href;
const bundled = new URL('./src/', import.meta.url).href;

if (process.env['STINT_MUTANT'] === undefined) {
  process.setSourceMapsEnabled(true);
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      if (!url.startsWith(sources) || !url.endsWith('.ts')) return resolved;
      return { ...resolved, url: `${bundled}${url.slice(sources.length, -'.ts'.length)}.js`, format: 'module' };
    },
  });
}
