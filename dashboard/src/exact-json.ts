/** JSON with exact numbers: a number that a double cannot represent is stored as its source text. */

export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const longNumber = /\d{16}|\d[eE]/;

export function parseExact(text: string): unknown {
  // A reviver makes parsing several times slower, so it is used only if the text has a long number.
  return longNumber.test(text) ? JSON.parse(text, reviveNumber) : JSON.parse(text);
}

/** The JSON text of a value that `parseExact` returned. */
export function exactText(value: unknown, indent = 2): string {
  const replace = (_key: string, one: unknown): unknown => (one instanceof ExactNumber ? rawNumber(one.text) : one);
  return JSON.stringify(value, replace, indent);
}

// TypeScript 5 has no type for `JSON.rawJSON`.
const raw = JSON as unknown as { rawJSON?: (text: string) => unknown };

const rawNumber = (text: string): unknown => raw.rawJSON?.(text) ?? Number(text);

function reviveNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return isExact(value, source) ? value : new ExactNumber(source);
}

const isExact = (value: number, source: string): boolean =>
  Number.isSafeInteger(value) || (!Number.isInteger(value) && String(value).length >= source.length);
