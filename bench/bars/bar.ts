/** A bar: a figure, the value that it must reach, and whether it does. */
import type { DatabaseName } from '../target.ts';

export interface Bar {
  readonly database: DatabaseName;
  readonly title: string;
  readonly value: number;
  readonly unit: '×' | 'ms' | 's' | 'MB' | 'violations';
  /** The least or the highest allowed value; null: the figure is only shown. */
  readonly bar: { readonly least: number } | { readonly most: number } | null;
  /** The figures behind the value. */
  readonly from: string;
}

export function isMet({ value, bar }: Bar): boolean {
  if (bar === null) return true;
  return 'least' in bar ? value >= bar.least : value <= bar.most;
}

export const barText = (bar: Bar): string =>
  [
    bar.title.padEnd(62), shown(bar).padStart(10), wanted(bar).padStart(10), verdict(bar).padStart(10), ` ${bar.from}`,
  ].join(' ');

/** Returns the page with the bars of this run, and those bars of the former page that were not measured again. */
export const barsMarkdown = (about: readonly string[], bars: readonly Bar[], former = ''): string => [
  '<!-- Written by `node bench/bars.ts --write`; do not edit. -->',
  '',
  '# Bars',
  '',
  'Costs that must not grow with the number of keys, names, types and sleeping runs. How they are measured: [README.md](README.md).',
  '',
  ...tableOf(about.join('  \n'), bars.map((bar) =>
    `| ${bar.database} | ${bar.title} | ${shown(bar)} | ${wanted(bar)} | ${verdict(bar)} | ${bar.from} |`)),
  ...formerTables(former, new Set(bars.map(({ database, title }) => `| ${database} | ${title} |`))),
].join('\n');

const tableHead = ['| database | figure | value | bar |  | from |', '| --- | --- | ---: | ---: | --- | --- |'];

const tableOf = (about: string, rows: readonly string[]): string[] => [about, '', ...tableHead, ...rows, ''];

/** The tables of a page without the rows that start so; tables that lose all rows are left out. */
function formerTables(page: string, starts: ReadonlySet<string>): string[] {
  const [, ...parts] = page.split(/\n\n(?=\d{4}-)/);
  return parts.flatMap((part) => {
    const [about = '', table = ''] = part.split('\n\n');
    const rows = table.trim().split('\n').slice(tableHead.length);
    const left = rows.filter((row) => !starts.has(/^(?:\|[^|]*){2}\|/.exec(row)?.[0] ?? ''));
    return left.length === 0 ? [] : tableOf(about, left);
  });
}

const shown = ({ value, unit }: Bar): string => `${value.toFixed(2)} ${unit}`;

const wanted = ({ bar, unit }: Bar): string =>
  bar === null ? '' : 'least' in bar ? `≥ ${bar.least} ${unit}` : `≤ ${bar.most} ${unit}`;

const verdict = (bar: Bar): string => (bar.bar === null ? '' : isMet(bar) ? 'met' : '**missed**');
