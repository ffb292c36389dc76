/** A bar: a figure, the value that it must reach, and whether it does. */
import type { DatabaseName } from '../target.ts';

export interface Bar {
  readonly database: DatabaseName;
  readonly title: string;
  readonly value: number;
  readonly unit: '×' | 'ms';
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

export const barsMarkdown = (about: readonly string[], bars: readonly Bar[]): string => [
  '<!-- Written by `node bench/bars.ts --write`; do not edit. -->',
  '',
  '# Bars',
  '',
  'Costs that must not grow with the number of keys, names and types. How they are measured: [README.md](README.md).',
  '',
  about.join('  \n'),
  '',
  '| database | figure | value | bar |  | from |',
  '| --- | --- | ---: | ---: | --- | --- |',
  ...bars.map((bar) =>
    `| ${bar.database} | ${bar.title} | ${shown(bar)} | ${wanted(bar)} | ${verdict(bar)} | ${bar.from} |`),
  '',
].join('\n');

const shown = ({ value, unit }: Bar): string => `${value.toFixed(2)} ${unit}`;

const wanted = ({ bar, unit }: Bar): string =>
  bar === null ? '' : 'least' in bar ? `≥ ${bar.least} ${unit}` : `≤ ${bar.most} ${unit}`;

const verdict = (bar: Bar): string => (bar.bar === null ? '' : isMet(bar) ? 'met' : '**missed**');
