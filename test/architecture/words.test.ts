// The words of the code: no metaphors in identifiers and file names, and no type name with two meanings.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync, Visitor } from 'vite';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Metaphors, and words with several meanings; docs/glossary.md has the terms to use instead. */
const bannedWords = new Set(
  `told tell tells telling tellings said newborn newborns newcomer foundling foundlings litter herd twin twins homes
  station crew roster census spell spells bell deed deeds desk sight sights unlucky lone conceive unborn born birth
  births foresight foresee foreseen checkup upkeep vitals canceller heart heard breathe courtesy doubt obey deaf dear
  stride look looks looked looking place places tread wish wished wishes shall meant helping helpings
  turnstile happening happenings glance theatre phantom wary spoils spoiled seat seats troubled story
  abandon abandonable`
    .split(/\s+/),
);

/** Route names of the HTTP API and fields of its client, which are public. */
const publicNames: ReadonlySet<string> = new Set(['tellProgress', 'tellLog', 'place']);

interface File {
  readonly path: string;
  readonly names: ReadonlySet<string>;
  readonly types: readonly string[];
}

const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readNames(join('src', name)));

function readNames(path: string): File {
  const { program } = parseSync(path, readFileSync(join(root, path), 'utf8'));
  const names = new Set<string>();
  const types: string[] = [];
  const addType = ({ id }: { readonly id: { readonly name: string } | null }): void => void (id && types.push(id.name));
  new Visitor({
    Identifier: ({ name }) => void names.add(name),
    PrivateIdentifier: ({ name }) => void names.add(name),
    TSInterfaceDeclaration: addType,
    TSTypeAliasDeclaration: addType,
    ClassDeclaration: addType,
  }).visit(program);
  return { path, names, types };
}

/** `isToldAt` → is, told, at; `claim-hint` → claim, hint. */
const wordsOf = (name: string): string[] =>
  (name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map((word) => word.toLowerCase());

const isBanned = (name: string): boolean =>
  !publicNames.has(name) && wordsOf(name).some((word) => bannedWords.has(word));

test.each(['isToldAt', 'lookMs', 'Newborns', '#desk'])('%s is a banned name', (name) => {
  expect(isBanned(name)).toBe(true);
});

test.each(['lookup', 'heartbeat', 'replace', 'tellLog'])('%s is an allowed name', (name) => {
  expect(isBanned(name)).toBe(false);
});

test('no identifier of src is a metaphor that the glossary replaced', () => {
  expect(files.flatMap(({ path, names }) => [...names].filter(isBanned).map((name) => `${path}: ${name}`))).toEqual([]);
});

test('no file name of src is a metaphor that the glossary replaced', () => {
  expect(files.map(({ path }) => path).filter((path) => isBanned(basename(path)))).toEqual([]);
});

test('a type name of src is declared by one file, or by parallel adapters', () => {
  const declarations = Map.groupBy(
    files.flatMap(({ path, types }) => types.map((name) => ({ path, name }))), ({ name }) => name);
  const doubled = [...declarations].filter(([, found]) => new Set(found.map(({ path }) => adapterFile(path))).size > 1);
  expect(doubled.map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(', ')}`)).toEqual([]);
});

/** `src/store/postgres/sql/errors.ts` and `src/store/sqlite/errors.ts` → `src/store/…/errors.ts`. */
const adapterFile = (path: string): string =>
  path.replace(/^src\/store\/(memory|sqlite|postgres)\/(sql\/)?/, 'src/store/…/');
