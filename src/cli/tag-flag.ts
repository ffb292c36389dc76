/** Parses the option `--tag`. */
import { Refusal } from '../refusal.ts';

export function tagsOf(texts: readonly string[]): Record<string, string> {
  const tags = texts.map(tagOf);
  const twice = tags.find(([name], index) => tags.findIndex(([other]) => other === name) < index);
  if (twice === undefined) return Object.fromEntries(tags);
  throw new Refusal('malformed.option', `the tag "${twice[0].slice(0, 40)}" is given twice: give each tag once`, {});
}

function tagOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  if (name !== '' && value.length > 0) return [name, value.join('=')];
  throw new Refusal('malformed.option', `invalid tag "${text.slice(0, 40)}"; use name=value`, {});
}
