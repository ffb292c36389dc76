/** The report: a table on the console, printed row by row. */
import type { Machine } from './machine.ts';
import type { Figure, Row } from './rounds.ts';
import type { CpuPerJob } from './stopwatch.ts';

interface Column {
  readonly head: string;
  readonly width: number;
  readonly cell: (row: Row) => string;
}

const columns: readonly Column[] = [
  { head: 'ours', width: 12, cell: ({ ours, unit }) => valueText(ours, unit) },
  { head: 'limit', width: 12, cell: ({ limit, unit }) => (limit === null ? '' : valueText(limit, unit)) },
  { head: 'unit', width: 8, cell: ({ unit }) => unit },
  { head: 'ratio', width: 7, cell: ({ ratio }) => ratio?.toFixed(2) ?? '' },
  { head: 'client µs', width: 16, cell: (row) => cpuText(row, (cpu) => cpu.clientUs) },
  { head: 'server µs', width: 16, cell: (row) => cpuText(row, (cpu) => cpu.serverUs) },
  { head: 'vs first', width: 10, cell: ({ versusBase }) => (versusBase === null ? '' : versusBase.toFixed(2)) },
];

const titleWidth = 52;

export const machineText = ({ date, platform, cpu, cores, memoryGiB, loadBefore, node }: Machine): string =>
  `${date}  ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}, load ${loadBefore.toFixed(2)}; Node ${node}`;

/** The header above the rows of a database. */
export const headText = (about: string): string =>
  `\n${about}\n${''.padEnd(titleWidth)}${columns.map(({ head, width }) => head.padStart(width)).join('')}`.trimEnd();

export const rowText = (row: Row): string =>
  `${row.title.padEnd(titleWidth)}${columns.map(({ cell, width }) => cell(row).padStart(width)).join('')}`.trimEnd();

export const closingText = `
Medians over rounds in which both sides alternate. ratio: ours / limit, 1 is the limit (inverted for ms).
µs: CPU per job, ours / limit. vs first: ours / ours in the first case of the workload.`;

export const valueText = ({ median }: Figure, unit: Row['unit']): string =>
  unit === 'ms' ? median.toFixed(2) : Math.round(median).toLocaleString('en');

function cpuText({ ours, limit }: Row, pick: (cpu: CpuPerJob) => number | null): string {
  const texts = [ours, ...(limit === null ? [] : [limit])].map(({ cpu }) => {
    const us = cpu === null ? null : pick(cpu);
    return us === null ? '–' : us.toFixed(us < 10 ? 1 : 0);
  });
  return texts.every((text) => text === '–') ? '' : texts.join(' / ');
}
