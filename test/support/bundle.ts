// The sources of src as a few bundled files, for the processes that tests start. Such a process loads some 450 modules:
// 0.45 s of CPU from the sources and a compile cache, 0.2 s from the bundle. Every file of src stays loadable under its
// own path (test/support/load-bundle.ts), and its import.meta.url stays what it was.
import { createHash } from 'node:crypto';
import {
  existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseAst, type Rolldown } from 'vite';

const root = join(import.meta.dirname, '..', '..');
const bundles = join(root, 'node_modules', '.cache', 'stint-bundles');
const preload = join(import.meta.dirname, 'load-bundle.ts');

/** Their content, too, decides whether a bundle is stale. */
const builders = ['package-lock.json', 'test/support/bundle.ts', 'test/support/load-bundle.ts'];

/** Bundles of other states of the sources are removed when no test run has used them for this long. */
const unusedMaxMs = 3_600_000;

/** What programs start with. The list decides only which modules share a file, so a missing entry only costs time. */
const programs = [
  'index.ts', 'server.ts', 'client.ts', 'testing/index.ts', 'open/stores.ts', 'cli/main.ts',
  'open/backup-heartbeat-thread.ts', 'engine/isolation/child/main.ts', 'engine/isolation/child/orphan-watch.ts',
  'store/inspection/inspector.ts',
].map((file) => join(root, 'src', file));

/** Bundles the sources unless that was done since they changed. Returns the folder. */
export async function bundledSources(): Promise<string> {
  const files = globSync('src/**/*.ts', { cwd: root }).sort();
  const folder = join(bundles, contentOf([...files, ...builders]));
  if (!existsSync(folder)) await build(files, folder);
  utimesSync(folder, new Date(), new Date());
  removeUnused();
  return folder;
}

/** The option of Node by which a process loads the bundle instead of the sources. */
export const loadingBundle = (folder: string): string =>
  `--import ${pathToFileURL(join(folder, 'load-bundle.js')).href}`;

function contentOf(files: readonly string[]): string {
  // Bundled modules contain paths of this checkout: a bundle that was copied into another one must not be found there.
  const hash = createHash('sha256').update(`${root}\0`);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 20);
}

/** Another test run may bundle the same sources at the same time: whichever renames its folder first wins. */
async function build(files: readonly string[], folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(bundles, { recursive: true });
  await write(files, draft);
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
    rmSync(draft, { recursive: true, force: true });
  }
}

async function write(files: readonly string[], outDir: string): Promise<void> {
  const vite = await import('vite');
  const parts = new Parts();
  await vite.build({
    configFile: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true, target: 'node' },
    plugins: [parts.plugin],
    build: {
      ssr: true,
      outDir,
      minify: false,
      sourcemap: true,
      target: 'node24',
      rolldownOptions: {
        input: { ...Object.fromEntries(files.map((file) => [entryOf(file), file])), 'load-bundle': preload },
        // The first three are optional or belong to the user; pino finds its own files at run time.
        external: ['vitest', '@opentelemetry/api', 'pg-native', 'pino'],
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name].js',
          sourcemapExcludeSources: true,
          codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: (id) => parts.of(id) }] },
        },
      },
    },
  });
}

const entryOf = (file: string): string => file.replace(/\.ts$/, '');

/** Modules that the same programs load share a file of the bundle. Otherwise each had its own: all are entries. */
class Parts {
  readonly #modules = new Map<string, Rolldown.ModuleInfo>();
  #programsOf: ReadonlyMap<string, string> | null = null;
  readonly #names = new Map<string, string>();

  readonly plugin: Rolldown.Plugin = {
    name: 'parts',
    moduleParsed: (module) => void this.#modules.set(module.id, module),
    transform: { filter: { code: 'import.meta.' }, order: 'pre', handler: withOwnImportMeta },
  };

  of(id: string): string | null {
    if (id === preload) return null;
    this.#programsOf ??= this.#findPrograms();
    const loadedBy = this.#programsOf.get(id) ?? '';
    if (!this.#names.has(loadedBy)) this.#names.set(loadedBy, `part-${this.#names.size}`);
    return this.#names.get(loadedBy)!;
  }

  /** For each module, the programs and dynamic imports that load it. */
  #findPrograms(): ReadonlyMap<string, string> {
    const imported = [...this.#modules.values()].flatMap(({ dynamicallyImportedIds }) => dynamicallyImportedIds);
    const found = new Map<string, string>();
    for (const [index, program] of [...new Set([...programs, ...imported])].entries()) {
      for (const id of this.#loadedBy(program)) found.set(id, `${found.get(id) ?? ''} ${index}`);
    }
    return found;
  }

  #loadedBy(program: string): ReadonlySet<string> {
    const found = new Set([program]);
    for (const id of found) for (const next of this.#modules.get(id)?.importedIds ?? []) found.add(next);
    return found;
  }
}

/** Replaces import.meta by what the file of the module has, so that it finds its neighbours among the sources. */
function withOwnImportMeta(code: string, id: string): { readonly code: string; readonly map: null } | null {
  if (!id.startsWith(join(root, 'src'))) return null;
  const own: Record<string, string> = { url: pathToFileURL(id).href, dirname: dirname(id) };
  const uses = metaUsesIn(parseAst(code, { lang: 'ts' })).sort((a, b) => b.start - a.start);
  const replaced = uses.reduce((text, { start, end, property }) => {
    return `${text.slice(0, start)}${JSON.stringify(own[property.name])}${text.slice(end)}`;
  }, code);
  return { code: replaced, map: null };
}

interface MetaUse {
  readonly start: number;
  readonly end: number;
  readonly property: { readonly name: string };
}

/** The nodes `import.meta.NAME` below a node. */
function metaUsesIn(node: object): MetaUse[] {
  if (isMetaUse(node)) return [node];
  return Object.values(node).flatMap((value) => (typeof value === 'object' && value !== null ? metaUsesIn(value) : []));
}

const isMetaUse = (node: object): node is MetaUse =>
  'object' in node && (node.object as { type: string }).type === 'MetaProperty';

function removeUnused(): void {
  for (const name of readdirSync(bundles)) {
    const path = join(bundles, name);
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - usedAt > unusedMaxMs) rmSync(path, { recursive: true, force: true });
  }
}
