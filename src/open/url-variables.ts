/** Environment variables that set options of a store URL, unless the query of the URL sets the option. */

/** Each variable with the option that it sets. */
export type UrlVariables = Readonly<Record<string, string>>;

export function withVariables(url: string, variables: UrlVariables): string {
  const [address = '', query = ''] = splitOnce(url, '?');
  const options = new URLSearchParams(query);
  for (const [variable, option] of Object.entries(variables)) {
    const value = process.env[variable];
    if (value !== undefined && !options.has(option)) options.set(option, value);
  }
  return options.size === 0 ? address : `${address}?${options.toString()}`;
}

export function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
