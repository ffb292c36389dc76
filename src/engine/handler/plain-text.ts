/** Plain text: converts any value of a handler to text that is safe to store and to display. */
import { inspect } from 'node:util';

/**
 * Returns at most `bytesMax` bytes of UTF-8; a truncated text ends with a note. Removes colors and other terminal
 * sequences, and makes control characters visible except line ends and tabs. Never throws.
 */
export function plainText(value: unknown, bytesMax: number): string {
  const full = typeof value === 'string' ? value : inspected(value);
  // Limits the cost of cleaning. The rest of a longer text is dropped, even if the cleaned text leaves room for it.
  const examined = full.slice(0, 4 * bytesMax);
  const clean = cleaned(examined);
  if (examined.length === full.length && Buffer.byteLength(clean) <= bytesMax) return clean;
  const mark = `… (truncated, ${full.length} characters in total)`;
  return firstBytes(clean, bytesMax - Buffer.byteLength(mark)) + mark;
}

/** Returns the message of an error; for a thrown value that is no error, the value as text. Never throws. */
export const errorText = (cause: unknown, bytesMax: number): string => plainText(messageOf(cause), bytesMax);

function messageOf(cause: unknown): unknown {
  try {
    return cause instanceof Error ? cause.message || cause.name : cause;
  } catch {
    return cause;
  }
}

function inspected(value: unknown): string {
  try {
    return inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 8_192, breakLength: 120 });
  } catch {
    return `(a value of type ${typeof value} that cannot be displayed)`;
  }
}

// Terminal sequences for colors, cursor movements, titles and links. No sequence can contain its own start character,
// so matching takes linear time.
// oxlint-disable-next-line no-control-regex -- it matches control characters
const csi = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
// oxlint-disable-next-line no-control-regex -- it matches control characters
const osc = /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\u009d]*(?:\u0007|\u001b\\|\u009c)/g;
// oxlint-disable-next-line no-control-regex -- it matches control characters
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const cleaned = (text: string): string =>
  text.replace(csi, '').replace(osc, '').replaceAll('\r\n', '\n').replace(control, visible).toWellFormed();

/** Returns the Unicode symbol of a control character, such as ␀; if there is none, an escape such as `\u0085`. */
function visible(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x7f) return '\u2421';
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u00${code.toString(16)}`;
}

function firstBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  let end = Math.max(0, Math.min(bytesMax, bytes.length));
  // A byte 10xxxxxx continues a UTF-8 character.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
