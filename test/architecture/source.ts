// A source file as the rules of the house see it: what it imports, which names it uses, which texts it holds.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { parseSync, Visitor, type ESTree } from 'vite';

export interface Source {
  /** From the root of the repository, as in `src/time/clock.ts`. */
  path: string;
  /** Paths as above for our own files, names for packages: by import, export, type, or URL of a worker. */
  imports: string[];
  /** Those of them that are there when the program runs, not for the compiler alone. */
  values: string[];
  /**
   * Names as they are used: `setTimeout`, `Date.now`, `new Date()`, and `.commit()` for a call of that method.
   * What merely defines or reaches a member (`clock.setTimeout`) is not a use of the global name.
   */
  uses: string[];
  /** String literals and templates, with `?` where a template has an expression. */
  texts: string[];
}

const root = join(import.meta.dirname, '..', '..');

/** Reads all TypeScript below a folder of the repository; answers none if there is no such folder. */
export function readSources(folder: string): Source[] {
  let names: string[];
  try {
    names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const paths = names.filter((name) => /\.tsx?$/.test(name)).map((name) => posix.join(folder, ...name.split(sep)));
  return paths.sort().map((path) => parseSource(path, readFileSync(join(root, path), 'utf8')));
}

export function parseSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`cannot parse ${path}: ${errors[0]!.message}`);
  return {
    path,
    imports: [...new Set(findImports(program, path))],
    values: [...new Set(findValues(program, path))],
    uses: [...new Set(findUses(program))],
    texts: [...new Set(findTexts(program))],
  };
}

function findImports(program: ESTree.Program, path: string): string[] {
  const imports: string[] = [];
  const add = (specifier: ESTree.Node | null): void => {
    if (specifier?.type === 'Literal' && typeof specifier.value === 'string') {
      imports.push(resolve(path, specifier.value));
    }
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source),
    ExportAllDeclaration: (node) => add(node.source),
    ExportNamedDeclaration: (node) => add(node.source),
    ImportExpression: (node) => add(node.source),
    TSImportType: (node) => add(node.source),
    NewExpression: (node) => {
      if (isUrlOfSource(node)) add(node.arguments[0]!);
    },
  }).visit(program);
  return imports;
}

function findValues(program: ESTree.Program, path: string): string[] {
  const values: string[] = [];
  const add = (node: { source: ESTree.StringLiteral | null; importKind?: string; exportKind?: string }): void => {
    const isOfTypes = node.importKind === 'type' || node.exportKind === 'type';
    if (node.source !== null && !isOfTypes) values.push(resolve(path, node.source.value));
  };
  new Visitor({
    ImportDeclaration: add,
    ExportAllDeclaration: add,
    ExportNamedDeclaration: add,
    ImportExpression: ({ source }) => {
      if (source.type === 'Literal' && typeof source.value === 'string') values.push(resolve(path, source.value));
    },
  }).visit(program);
  return values;
}

function resolve(path: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
}

/** `new URL('./worker.ts', import.meta.url)`: the source file of a thread. */
function isUrlOfSource({ callee, arguments: [first] }: ESTree.NewExpression): boolean {
  const isUrl = callee.type === 'Identifier' && callee.name === 'URL';
  return isUrl && first?.type === 'Literal' && typeof first.value === 'string' && /\.tsx?$/.test(first.value);
}

function findUses(program: ESTree.Program): string[] {
  const uses: string[] = [];
  // A parent is visited before its children, and so can say that a child is no use of a global name.
  const memberNames = new Set<ESTree.Node>();
  const skipKey = (node: { key: ESTree.Node; computed: boolean }): void => {
    if (!node.computed) memberNames.add(node.key);
  };
  new Visitor({
    Property: (node) => {
      if (!node.shorthand) skipKey(node);
    },
    MethodDefinition: skipKey,
    PropertyDefinition: skipKey,
    TSMethodSignature: skipKey,
    TSPropertySignature: skipKey,
    MemberExpression: (node) => {
      const member = memberName(node);
      if (member === undefined) return;
      memberNames.add(node.property);
      if (node.object.type === 'Identifier') uses.push(`${node.object.name}.${member}`);
    },
    CallExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.arguments.length === 0) uses.push(`${node.callee.name}()`);
      const method = node.callee.type === 'MemberExpression' ? memberName(node.callee) : undefined;
      if (method !== undefined) uses.push(`.${method}()`);
    },
    NewExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.arguments.length === 0) uses.push(`new ${node.callee.name}()`);
    },
    Identifier: (node) => {
      if (!memberNames.has(node)) uses.push(node.name);
    },
  }).visit(program);
  return uses;
}

/** `now` in `Date.now` and in `Date['now']`. */
function memberName({ property, computed }: ESTree.MemberExpression): string | undefined {
  if (!computed) return property.type === 'Identifier' ? property.name : undefined;
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : undefined;
}

function findTexts(program: ESTree.Program): string[] {
  const texts: string[] = [];
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') texts.push(node.value);
    },
    TemplateLiteral: (node) => {
      texts.push(node.quasis.map((part) => part.value.cooked ?? part.value.raw).join('?'));
    },
  }).visit(program);
  return texts;
}
