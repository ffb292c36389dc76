/** Output: lines, tables and JSON. On a terminal, lines and tables may have colours, and tables are cut at its edge. */
import { styleText } from 'node:util';
import { noTimeoutDue } from '../model/question.ts';

/**
 * The characters that are printed as escapes: control characters, and format characters such as U+202E that reorder or
 * hide text. The joiners of emoji and scripts (U+200C, U+200D) are printed unchanged. The escapes are also valid in
 * JSON, so escaped JSON output parses to the same value.
 */
const unsafe = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;
/** The unsafe characters that this program itself prints: line breaks, tabs, and the styles that `styled` sets. */
// oxlint-disable-next-line no-control-regex -- styles begin with the escape character
const own = /\n|\t|\u001b\[(?:0|1|2|22|3[1-6]|39)m/y;

/** Escapes text that comes from jobs, so that it can neither control the terminal nor begin a new line. */
export const harmless = (text: string): string => text.replace(unsafe, escaped);

/** Escapes unsafe characters, except line breaks, tabs and, with `hasStyles`, the styles that `styled` sets. */
export function printable(text: string, hasStyles: boolean): string {
  return text.replace(unsafe, (character, at: number) => {
    own.lastIndex = at;
    const [kept] = own.exec(text) ?? [];
    return kept !== undefined && (kept.length === 1 || hasStyles) ? character : escaped(character);
  });
}

const escaped = (character: string): string =>
  character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

const closing = new AbortController();

/** Aborts when the reader has closed the pipe. Commands that follow something end then; those that act continue. */
export const outputClosed: AbortSignal = closing.signal;

/** Without a listener, a write to a pipe that its reader has closed (EPIPE) would end the process with a stack trace. */
export function tolerateClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      if (stream === process.stdout) closing.abort();
    });
  }
}

/** Whether output has styles. `styled` decides by the terminal, FORCE_COLOR and NO_COLOR. */
const hasStyles = (): boolean => styled('bold', 'x') !== 'x';

export function printError(text: string): void {
  process.stderr.write(`${printable(text, false)}\n`);
}

/**
 * Writes text without escaping it: completion scripts, and our own control sequences around text that is already
 * escaped.
 */
export function print(text: string): void {
  if (!outputClosed.aborted) process.stdout.write(text);
}

export const printJson = (value: unknown): void => printLine(JSON.stringify(value, null, 2));

/** Prints a line. `printable` escapes it, in case the caller has not used `harmless`. */
export const printLine = (text = ''): void => print(`${printable(text, hasStyles())}\n`);

/** Prints a table. Each column is padded to its widest cell, and the last column is cut at the edge of the terminal. */
export function printTable(headings: readonly string[], rows: readonly (readonly TableCell[])[]): void {
  const cells = rows.map((row) => row.map(textOf));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => row[column]!.length)),
  );
  printLine(styled('dim', line(headings, widths)));
  rows.forEach((row, index) => printLine(line(cells[index]!, widths, row)));
}

export type TableCell = string | number | null | { readonly text: string; readonly style: Style };
export type Style = Parameters<typeof styleText>[0];

export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const textOf = (cell: TableCell): string =>
  harmless(cell === null ? '–' : typeof cell === 'object' ? cell.text : String(cell));

function line(texts: readonly string[], widths: readonly number[], cells: readonly TableCell[] = []): string {
  const room = process.stdout.isTTY ? process.stdout.columns : Infinity;
  let used = 0;
  const parts = texts.map((text, column) => {
    const isLast = column === texts.length - 1;
    const shown = isLast ? text.slice(0, Math.max(8, room - used)) : text.padEnd(widths[column]!);
    used += shown.length + 2;
    const cell = cells[column];
    return typeof cell === 'object' && cell !== null ? styled(cell.style, shown) : shown;
  });
  return parts.join('  ').trimEnd();
}

export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Draws a share between 0 and 1 as a bar, such as ███░░. */
export function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return '█'.repeat(full) + '░'.repeat(width - full);
}

const styles: Readonly<Record<string, Style>> = {
  pending: 'blue',
  held: 'yellow',
  running: 'cyan',
  succeeded: 'green',
  failed: 'red',
  cancelled: 'magenta',
};

export const stateCell = (state: string): TableCell => ({ text: state, style: styles[state] ?? 'reset' });

/** The due time of a job; a run that waits for an answer without a timeout has none. */
export const dueCell = (due: number): string | null => (due >= noTimeoutDue ? 'when answered' : timeCell(due));

export const timeCell = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString().replace('.000Z', 'Z');
