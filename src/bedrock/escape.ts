/** Backslash escapes in header values: unescaped in requests, escaped in responses. */

const controls: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Replaces `\n \r \t \b \f` and `\uXXXX`; drops a backslash before any other character. */
export const unescapeValue = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/gu, unescaped) : text;

export const escapeValue = (text: string): string =>
  text.replace(/[\\\n\r\t]/g, (character) => escapes[character]!);

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const unescaped = (_: string, code: string | undefined, character: string | undefined): string =>
  code === undefined ? (controls[character!] ?? character!) : String.fromCharCode(parseInt(code, 16));
