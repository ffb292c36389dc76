/** Parses the option `--tag`. */
import { Refusal } from '../refusal.ts';

export function tagsOf(texts: readonly string[]): Record<string, string> {
  const tags = texts.map(tagOf);
  const twice = tags.find(([name], index) => tags.findIndex(([other]) => other === name) < index);
  if (twice === undefined) return Object.fromEntries(tags);
  throw new Refusal('malformed.option', `the tag "${twice[0].slice(0, 40)}" is given twice: give each tag once`, {});
}

/** The tags in the form that filters of the HTTP API have. */
export const tagPairsOf = (texts: readonly string[]): string[] => Object.entries(tagsOf(texts)).map(pairOf);

function pairOf([name, value]: [string, string]): string {
  if (!name.includes(':')) return `${name}:${value}`;
  throw new Refusal('malformed.option', `cannot search the tag "${name.slice(0, 40)}", whose name has a colon`, {});
}

function tagOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  if (name !== '' && value.length > 0) return [name, value.join('=')];
  throw new Refusal('malformed.option', `invalid tag "${text.slice(0, 40)}"; use name=value`, {});
}
