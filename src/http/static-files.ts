/** Pages: the dashboard's files, known by name when the server starts; without them, one plain page of links. */
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

const plain = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Stint</title>
<h1>Stint</h1>
<p>This server runs. Its dashboard has not been built.</p>
<ul>
<li><a href="/api/v1/runs">Runs</a></li>
<li><a href="/api/v1/defs">Definitions</a></li>
<li><a href="/api/v1/types">Types</a></li>
<li><a href="/api/v1/instances">Instances</a></li>
<li><a href="/api/v1/stats">Figures</a></li>
<li><a href="/api/v1/openapi.json">OpenAPI document</a></li>
<li><a href="/metrics">Metrics</a></li>
<li><a href="/health">Health</a></li>
</ul>
</html>
`;

export class StaticFiles {
  /** With their content: files that are built anew under a running server do not fit together with those it told of. */
  readonly #files = new Map<string, { readonly type: string; readonly content: Buffer }>();

  /** Of a folder; null or one that is not there: only the plain page. */
  constructor(folder: string | null) {
    if (folder === null || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const type = media[extname(path)];
      // Files that link elsewhere are no files here.
      if (!entry.isFile() || type === undefined) continue;
      this.#files.set(`/${relative(folder, path).split(sep).join('/')}`, { type, content: readFileSync(path) });
    }
  }

  /** Null: there is no such page. A path that looks like none of a file is one of the dashboard's own. */
  answer(path: string): Response | null {
    const isPage = !/\.\w{1,12}$/.test(path);
    const found = this.#files.get(path) ?? (isPage ? this.#files.get('/index.html') : undefined);
    if (found) {
      const isLasting = path.startsWith('/assets/');
      const caching = isLasting ? 'public, max-age=31536000, immutable' : 'no-cache';
      const headers = { 'content-type': found.type, 'cache-control': caching };
      const body = found.type === media['.html'] ? seenFrom(path, found.content) : new Uint8Array(found.content);
      return new Response(body, { headers });
    }
    if (path !== '/') return null;
    return new Response(plain, { headers: { 'content-type': media['.html']!, 'cache-control': 'no-cache' } });
  }
}

/** Its files are named relative to the root, so that they are found below any prefix; from deeper pages it is higher. */
function seenFrom(path: string, html: Buffer): string {
  const steps = path.split('/').length - 2;
  return html.toString('utf8').replaceAll('="./', `="${'../'.repeat(steps) || './'}`);
}
