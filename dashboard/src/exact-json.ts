/** JSON whose numbers stay as they were written: one beyond what JavaScript can count is kept as text. */

export class ExactNumber {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const longNumber = /\d{16}|\d[eE]/;

export function parseExact(text: string): unknown {
  // The careful way costs several times the time of the plain one.
  return longNumber.test(text) ? JSON.parse(text, keep) : JSON.parse(text);
}

/** The text of a value that `parseExact` gave. */
export function exactText(value: unknown, indent = 2): string {
  const written = (_key: string, one: unknown): unknown => (one instanceof ExactNumber ? rawNumber(one.text) : one);
  return JSON.stringify(value, written, indent);
}

// TypeScript does not know yet that JSON can keep a number as it was written.
const raw = JSON as unknown as { rawJSON?: (text: string) => unknown };

const rawNumber = (text: string): unknown => raw.rawJSON?.(text) ?? Number(text);

function keep(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined) return value;
  return isSame(value, source) ? value : new ExactNumber(source);
}

const isSame = (value: number, source: string): boolean =>
  Number.isSafeInteger(value) || (!Number.isInteger(value) && String(value).length >= source.length);
