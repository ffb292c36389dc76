/** Files of definitions in YAML or JSON. A refusal of a document that was read from a file names the file and line. */
import { readFile } from 'node:fs/promises';
import type { DefDocument, DocumentPath } from '../engine/declare/def-document.ts';
import { isRefusal, Refusal } from '../refusal.ts';

export interface DefinitionFile {
  readonly document: DefDocument;
  /** Performs an operation on the document. Its refusals get the file and the line of the refused field. */
  locate<T>(perform: () => Promise<T>): Promise<T>;
}

const bytesMax = 64 * 1024 * 1024;

/** Reads a file; `-` is the standard input. JSON is read as YAML, which contains it, so that it has lines too. */
export async function readDefinitionFile(path: string): Promise<DefinitionFile> {
  const text = await textOf(path);
  // Loaded here, because no other command needs the parser.
  const { LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const [error] = parsed.errors;
  if (error) throw new Refusal('malformed.document', `${path}:${lines.linePos(error.pos[0]).line}: ${error.message}`, {});
  const lineOf = (documentPath: DocumentPath): number | undefined => {
    for (let length = documentPath.length; length > 0; length--) {
      const node: unknown = parsed.getIn(documentPath.slice(0, length), true);
      const range = (node as { readonly range?: readonly number[] } | undefined)?.range;
      if (range) return lines.linePos(range[0]!).line;
    }
    return undefined;
  };
  return {
    document: parsed.toJS({ maxAliasCount: 100 }) as DefDocument,
    locate: (perform) => locate(path, lineOf, perform),
  };
}

export async function definitionText(document: DefDocument, format: string): Promise<string> {
  if (format === 'json') return `${JSON.stringify(document, null, 2)}\n`;
  if (format !== 'yaml') throw new Refusal('malformed.option', '--format must be yaml or json', { format });
  const { stringify } = await import('yaml');
  return stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

async function locate<T>(
  path: string,
  lineOf: (documentPath: DocumentPath) => number | undefined,
  perform: () => Promise<T>,
): Promise<T> {
  try {
    return await perform();
  } catch (error) {
    const documentPath = isRefusal(error) ? error.detail['documentPath'] : undefined;
    if (!isRefusal(error) || documentPath === undefined) throw error;
    const line = lineOf(documentPath as DocumentPath);
    throw new Refusal(error.code, `${path}${line === undefined ? '' : `:${line}`}: ${error.message}`, error.detail);
  }
}

async function textOf(path: string): Promise<string> {
  const text = path === '-' ? await standardInput() : await fileText(path);
  if (text.length <= bytesMax) return text;
  throw new Refusal('malformed.document', `${path} is larger than 64 MB`, {});
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal('malformed.document', `cannot read ${path}: ${code ?? String(error)}`, {});
  }
}

async function standardInput(): Promise<string> {
  const parts: string[] = [];
  for await (const part of process.stdin.setEncoding('utf8')) parts.push(part as string);
  return parts.join('');
}
