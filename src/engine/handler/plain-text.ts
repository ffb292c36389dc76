/** Plain text: whatever a handler says, as text that is safe to keep and to show. */
import { inspect } from 'node:util';

/**
 * At most so many bytes of UTF-8, with a mark where it was cut. Colours and other terminal sequences are taken out; of
 * the control characters only line ends and tabs stay as they are. Never throws.
 */
export function plainText(value: unknown, bytesMax: number): string {
  const full = typeof value === 'string' ? value : shown(value);
  // Cleaning shortens at most what it takes out, so that far more than fits need not be looked at.
  const examined = full.slice(0, 4 * bytesMax);
  const clean = cleaned(examined);
  if (examined.length === full.length && Buffer.byteLength(clean) <= bytesMax) return clean;
  const mark = `… (truncated, ${full.length} characters in total)`;
  return firstBytes(clean, bytesMax - Buffer.byteLength(mark)) + mark;
}

/** What went wrong, in the words of the error itself. Never throws. */
export const errorText = (cause: unknown, bytesMax: number): string => plainText(messageOf(cause), bytesMax);

function messageOf(cause: unknown): unknown {
  try {
    return cause instanceof Error ? cause.message || cause.name : cause;
  } catch {
    return cause;
  }
}

function shown(value: unknown): string {
  try {
    return inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 8_192, breakLength: 120 });
  } catch {
    return `(a value of type ${typeof value} that cannot be displayed)`;
  }
}

// Colours, cursor movements, titles and links. None can hold the character that begins one, so matching is linear.
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const csi = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]/g;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const osc = /(?:\u001b\]|\u009d)[^\u0007\u001b\u009c\u009d]*(?:\u0007|\u001b\\|\u009c)/g;
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

const cleaned = (text: string): string =>
  text.replace(csi, '').replace(osc, '').replaceAll('\r\n', '\n').replace(control, visible).toWellFormed();

/** As a picture where Unicode has one: ␀, ␛, ␡. */
function visible(char: string): string {
  const code = char.charCodeAt(0);
  if (code === 0x7f) return '\u2421';
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : `\\u00${code.toString(16)}`;
}

function firstBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  let end = Math.max(0, Math.min(bytesMax, bytes.length));
  // A byte 10xxxxxx goes on with the character before it.
  while (end > 0 && end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
