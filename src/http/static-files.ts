/** Static files: the built dashboard, or one plain page of links if it was not built. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

const media: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * The plain page. Its links are relative, because the server may be mounted below a prefix. The links need no `../`,
 * because the page is served only at `/`.
 */
const plain = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Stint</title>
<h1>Stint</h1>
<p>The server is running. Its dashboard has not been built.</p>
<ul>
<li><a href="api/v1/runs">Runs</a></li>
<li><a href="api/v1/defs">Definitions</a></li>
<li><a href="api/v1/types">Types</a></li>
<li><a href="api/v1/instances">Instances</a></li>
<li><a href="api/v1/stats">Statistics</a></li>
<li><a href="api/v1/openapi.json">OpenAPI document</a></li>
<li><a href="metrics">Metrics</a></li>
<li><a href="health">Health</a></li>
</ul>
</html>
`;

export class StaticFiles {
  /**
   * The files by URL path. They are read only when the server starts, so that a page that a browser has loaded still
   * finds its files after the dashboard was rebuilt on disk.
   */
  readonly #files = new Map<string, { readonly type: string; readonly content: Buffer }>();

  /**
   * Reads the files with a known media type from a folder. If the folder is null or missing, only the plain page is
   * served.
   */
  constructor(folder: string | null) {
    if (folder === null || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const type = media[extname(path)];
      // `isFile` is false for symbolic links. They are skipped, because they could lead outside the folder.
      if (!entry.isFile() || type === undefined) continue;
      this.#files.set(`/${relative(folder, path).split(sep).join('/')}`, { type, content: readFileSync(path) });
    }
  }

  /**
   * Returns the file of a URL path; null: no such file. For a path without an extension, which is a page of the
   * dashboard, returns `index.html`.
   */
  answer(path: string): Response | null {
    const isPage = !/\.\w{1,12}$/.test(path);
    const found = this.#files.get(path) ?? (isPage ? this.#files.get('/index.html') : undefined);
    if (found) {
      const isImmutable = path.startsWith('/assets/');
      const caching = isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache';
      const headers = { 'content-type': found.type, 'cache-control': caching };
      const isPage = found.type === media['.html'];
      const body = isPage ? withRelativeUrls(path, found.content) : new Uint8Array(found.content);
      return new Response(body, { headers });
    }
    if (path !== '/') return null;
    return new Response(plain, { headers: { 'content-type': media['.html']!, 'cache-control': 'no-cache' } });
  }
}

/**
 * Makes the URLs of the page relative to its path, because the dashboard may be mounted below a prefix. Deeper pages
 * need more `../`.
 */
function withRelativeUrls(path: string, html: Buffer): string {
  const steps = path.split('/').length - 2;
  return html.toString('utf8').replaceAll('="./', `="${'../'.repeat(steps) || './'}`);
}
