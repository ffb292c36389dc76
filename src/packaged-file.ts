/**
 * A file of this package that is not imported: a module that is started as a thread or process, or the built dashboard.
 * A bundle does not contain it, and the returned URL is then that of no file.
 */
import { pathToFileURL } from 'node:url';

/** `from` is the `import.meta.url` of the caller. It is undefined in a bundle that esbuild has made as CommonJS. */
export const packagedUrl = (path: string, from: string | undefined): URL =>
  new URL(path, from ?? pathToFileURL('bundle/without/files/'));

/** Node executes the `.ts` file in development and the `.js` file in the package. */
export const packagedModule = (path: string, from: string | undefined): URL =>
  packagedUrl(`${path}${from?.endsWith('.ts') ? '.ts' : '.js'}`, from);
