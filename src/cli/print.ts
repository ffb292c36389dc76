/** Printing for people and for programs: tables and colours on a terminal, plain lines in a pipe, JSON when asked. */
import { styleText } from 'node:util';

/** What a job says is text, never terminal control. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
export const harmless = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '·');

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Columns as wide as their widest cell; the last one is cut at the edge of the terminal. */
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

/** A share of the whole, such as ███░░. */
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

/** A state in its colour; the word alone says it too. */
export const stateCell = (state: string): TableCell => ({ text: state, style: styles[state] ?? 'reset' });

export const timeCell = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString().replace('.000Z', 'Z');
