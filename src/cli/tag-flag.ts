/** Parses the option `--tag`. */
import { Refusal } from '../refusal.ts';

export function tagOf(text: string): [string, string] {
  const [name = '', ...value] = text.split('=');
  if (name !== '' && value.length > 0) return [name, value.join('=')];
  throw new Refusal('malformed.option', `invalid tag "${text.slice(0, 40)}"; use name=value`, {});
}
