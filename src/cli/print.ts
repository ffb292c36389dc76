/** Output: tables and colours on a terminal, plain lines when piped, JSON on request. */
import { styleText } from 'node:util';

/** Replaces control characters: texts of jobs must not control the terminal. */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
export const printable = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '·');

let isClosed = false;

/** Whether the reader of the output, such as `head`, has closed the pipe. */
export const isOutputClosed = (): boolean => isClosed;

/** Without this listener, a write to a closed pipe (EPIPE) would end the process with a stack trace. */
export function tolerateClosedPipe(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isClosed = true;
  });
}

export function print(text: string): void {
  if (!isClosed) process.stdout.write(text);
}

export const printJson = (value: unknown): void => print(`${JSON.stringify(value, null, 2)}\n`);

export const printLine = (text = ''): void => print(`${text}\n`);

/** Pads each column to its widest cell and cuts the last one at the edge of the terminal. */
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
  printable(cell === null ? '–' : typeof cell === 'object' ? cell.text : String(cell));

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

/** A bar for a share between 0 and 1, such as ███░░. */
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

/** A state with its colour. */
export const stateCell = (state: string): TableCell => ({ text: state, style: styles[state] ?? 'reset' });

export const timeCell = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString().replace('.000Z', 'Z');
