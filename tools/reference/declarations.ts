/** Declarations as the source has them: the fields of an interface and the members of a union, with their comments. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, type ESTree } from 'vite';

export interface Field {
  readonly name: string;
  readonly isOptional: boolean;
  readonly type: string;
  readonly says: string;
}

export const root = join(import.meta.dirname, '..', '..');

interface Read {
  readonly text: string;
  readonly program: ESTree.Program;
  readonly comments: readonly { readonly start: number; readonly end: number; readonly value: string }[];
}

function read(path: string): Read {
  const text = readFileSync(join(root, path), 'utf8');
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`cannot parse ${path}: ${errors[0]!.message}`);
  return { text, program, comments };
}

/** The fields that an interface says itself. */
export function fieldsOf(path: string, name: string): Field[] {
  const source = read(path);
  const found = declarationsIn(source.program).find(
    (node) => node.type === 'TSInterfaceDeclaration' && node.id.name === name,
  ) as ESTree.TSInterfaceDeclaration | undefined;
  if (!found) throw new Error(`${path} has no interface ${name}`);
  return found.body.body.flatMap((member) => {
    if (member.type !== 'TSPropertySignature' && member.type !== 'TSMethodSignature') return [];
    const key = source.text.slice(member.key.start, member.key.end);
    const says = commentBefore(source, member.start);
    return [{ name: key, isOptional: member.optional, type: typeOf(source, member), says }];
  });
}

export interface Kind {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly says: string;
}

/** The members of a union of objects with a `kind`, each with its other fields. */
export function kindsOf(path: string, name: string): Kind[] {
  const source = read(path);
  const found = declarationsIn(source.program).find(
    (node) => node.type === 'TSTypeAliasDeclaration' && node.id.name === name,
  ) as ESTree.TSTypeAliasDeclaration | undefined;
  if (found?.typeAnnotation.type !== 'TSUnionType') throw new Error(`${path} has no union ${name}`);
  return found.typeAnnotation.types.map((member) => {
    const text = source.text.slice(member.start, member.end);
    const [, kind = ''] = /kind: '(\w+)'/.exec(text) ?? [];
    const own = [...text.matchAll(/readonly (\w+\??):/g)].map(([, field]) => field!);
    const [, joined] = /& (\w+)/.exec(text) ?? [];
    const others = joined === undefined ? [] : fieldsOf(path, joined).map(shownName);
    const fields = [...own, ...others].filter((field) => field !== 'kind');
    return { kind, fields, says: commentBefore(source, source.text.lastIndexOf('|', member.start)) };
  });
}

const shownName = ({ name, isOptional }: Field): string => (isOptional ? `${name}?` : name);

const declarationsIn = ({ body }: ESTree.Program): ESTree.Node[] =>
  body.map((node) => (node.type === 'ExportNamedDeclaration' && node.declaration ? node.declaration : node));

type Member = ESTree.TSPropertySignature | ESTree.TSMethodSignature;

function typeOf({ text }: Read, member: Member): string {
  const shown = member.type === 'TSPropertySignature' && member.typeAnnotation
    ? text.slice(member.typeAnnotation.start + 1, member.typeAnnotation.end)
    : text.slice(member.key.end, member.end).replace(/;$/, '');
  return shown.replace(/\breadonly /g, '').replace(/\s+/g, ' ').replace(/\( /g, '(').replace(/,? \)/g, ')').trim();
}

/** The comment that ends right before this place. */
function commentBefore({ text, comments }: Read, start: number): string {
  const comment = comments.findLast(({ end }) => end <= start && text.slice(end, start).trim() === '');
  return (comment?.value ?? '').replace(/^\*/, '').replace(/\n\s*\*/g, ' ').trim();
}
