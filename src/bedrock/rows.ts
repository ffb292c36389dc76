/** The rows of a Query reply, in the requested format. */
import { isRefusal } from '../refusal.ts';
import { checkExactText } from '../model/json.ts';
import type { Cell, Inspection } from '../store/store.ts';
import type { Headers } from './parameters.ts';

/** Formats the rows as the headers ask. The default is a JSON array of arrays, as in Bedrock's documentation. */
export function rowsText({ columns, rows }: Inspection, headers: Headers): string {
  if (headers.get('format')?.toLowerCase() === 'json') {
    return `{"headers":${JSON.stringify(columns)},"rows":${listText(rows)}}`;
  }
  const flags = headers.get('readdbflags') ?? headers.get('sqliteargs') ?? '';
  if (flags.includes('-json')) return objectsText(columns, rows);
  return flags.includes('-list') ? barsText(columns, rows) : listText(rows);
}

type Rows = Inspection['rows'];

const listText = (rows: Rows): string => `[${rows.map((row) => `[${row.map(embeddedText).join(',')}]`).join(',')}]`;

/** Formats the rows like the SQLite shell with -json, which prints nothing if there are no rows. */
function objectsText(columns: readonly string[], rows: Rows): string {
  const memberText = (cell: Cell, index: number): string => `${JSON.stringify(columns[index])}:${cellText(cell)}`;
  const objects = rows.map((row) => `{${row.map(memberText).join(',')}}`);
  return objects.length === 0 ? '' : `[${objects.join(',\n')}]\n`;
}

const barsText = (columns: readonly string[], rows: Rows): string =>
  rows.length === 0 ? '' : [columns, ...rows].map((row) => `${row.map((cell) => cell ?? '').join('|')}\n`).join('');

const cellText = (cell: Cell): string => (typeof cell === 'string' ? JSON.stringify(cell) : String(cell));

/** Returns the JSON of a cell. A text that is itself a JSON object or array is inserted without quotes. */
function embeddedText(cell: Cell): string {
  const isNested = typeof cell === 'string' && /^(?:\{[^]*\}|\[[^]*\])$/.test(cell) && isJson(cell);
  return isNested ? cell : cellText(cell);
}

function isJson(text: string): boolean {
  try {
    return checkExactText(text) === text;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}
