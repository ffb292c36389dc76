/** Backslashes in header values: undone once when they arrive, made when they leave. */

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** `\n \r \t \b \f` and `\uXXXX` become what they stand for; a backslash before anything else goes away. */
export const unescapeValue = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/gu, meaning) : text;

export const escapeValue = (text: string): string =>
  text.replace(/[\\\n\r\t]/g, (character) => escapes[character]!);

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const meaning = (_: string, code: string | undefined, character: string | undefined): string =>
  code === undefined ? (controls[character!] ?? character!) : String.fromCharCode(parseInt(code, 16));
