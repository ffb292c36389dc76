// A preloaded module: loads each file of src from the bundle beside this module, with stack traces of the sources. In a
// process that has a mutant it does nothing, because mutants are planted into the sources.
import { readFileSync } from 'node:fs';
import { registerHooks, SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

// This module is part of the bundle: node_modules/.cache/stint-bundles/HASH/load-bundle.js.
const folder = new URL('./', import.meta.url).href;
const sources = new URL('../../../../src/', folder).href;

if (process.env['STINT_MUTANT'] === undefined) {
  // Node itself would read the source map of each file that it loads: 25 ms of CPU per process. Most print no stack.
  Error.prepareStackTrace = (error, calls) => [headOf(error), ...calls.map(lineOf)].join('\n    at ');
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const { url } = resolved;
      if (!url.startsWith(sources) || !url.endsWith('.ts')) return resolved;
      return { ...resolved, url: `${folder}src/${url.slice(sources.length, -'.ts'.length)}.js`, format: 'module' };
    },
  });
}

/** As Node prints it, which adds the code to the names of its own errors. */
function headOf(error: Error & { readonly code?: unknown }): string {
  const { name, code, message } = error;
  if (typeof code === 'string' && code.startsWith('ERR_')) return `${name} [${code}]: ${message}`;
  return Error.prototype.toString.call(error);
}

function lineOf(call: NodeJS.CallSite): string {
  const file = call.getFileName();
  // oxlint-disable-next-line typescript/no-base-to-string -- V8 gives it the text that stacks have
  const text = String(call);
  if (file === null || file === undefined || !file.startsWith(folder)) return text;
  return text.replace(/file:[^)]+$|file:[^)]+(?=\)$)/, placeOf(file, call.getLineNumber()!, call.getColumnNumber()!));
}

/** Both count from 1, source maps from 0. */
function placeOf(file: string, line: number, column: number): string {
  const found = sourceMapOf(file).findEntry(line - 1, column - 1);
  if (!('originalSource' in found)) return `${file}:${line}:${column}`;
  const source = fileURLToPath(new URL(found.originalSource, file));
  return `${source}:${found.originalLine + 1}:${found.originalColumn + 1}`;
}

const sourceMaps = new Map<string, SourceMap>();

function sourceMapOf(file: string): SourceMap {
  const read = sourceMaps.get(file) ?? readSourceMapOf(file);
  sourceMaps.set(file, read);
  return read;
}

function readSourceMapOf(file: string): SourceMap {
  return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')) as SourceMapPayload);
}
