/** Exports the runs of a list from all pages, up to a limit, as JSON lines or CSV. */
import type { RunFilter, RunView } from '../../../../src/http/contract.ts';
import { call } from '../../api.ts';
import { download } from '../../download.ts';
import { isDueWhenAnswered } from '../../state/run-status.ts';

export type ExportFormat = 'csv' | 'json';

const rowsMax = 20_000;
const pageSize = 1_000;

/** Downloads the matching runs as a file; returns their number, and whether the limit of rows was reached. */
export async function exportRuns(
  filter: RunFilter,
  order: 'newest' | 'oldest',
  format: ExportFormat,
): Promise<{ readonly count: number; readonly isCut: boolean }> {
  const runs: RunView[] = [];
  let after: number | undefined;
  do {
    const page = await call('listRuns', { query: { ...filter, order, limit: pageSize, after } });
    runs.push(...page.items);
    after = page.next ?? undefined;
  } while (after !== undefined && runs.length < rowsMax);
  const isCsv = format === 'csv';
  const text = isCsv ? csv(runs) : runs.map((run) => `${JSON.stringify(run)}\n`).join('');
  download(`runs.${isCsv ? 'csv' : 'jsonl'}`, text, isCsv ? 'text/csv' : 'application/jsonl');
  return { count: runs.length, isCut: after !== undefined };
}

const instant = (at: number | null): string => (at === null ? '' : new Date(at).toISOString());

const columns: readonly (readonly [string, (run: RunView) => string | number])[] = [
  ['id', ({ id }) => id],
  ['type', ({ type }) => type],
  ['definition', ({ def }) => def ?? ''],
  ['standing', ({ standing }) => standing],
  ['attempt', ({ attempt }) => attempt],
  ['priority', ({ priority }) => priority],
  ['created', ({ createdAt }) => instant(createdAt)],
  ['due', (run) => (isDueWhenAnswered(run) ? '' : instant(run.dueAt))],
  ['started', ({ startedAt }) => instant(startedAt)],
  ['ended', ({ endedAt }) => instant(endedAt)],
  ['error', ({ error }) => error?.message ?? ''],
  ['tags', ({ tags }) => Object.entries(tags).map(([name, value]) => `${name}=${value}`).join(' ')],
];

function csv(runs: readonly RunView[]): string {
  const rows = runs.map((run) => columns.map(([, value]) => cell(value(run))).join(','));
  return [columns.map(([name]) => name).join(','), ...rows].join('\r\n');
}

/** Formats a cell of CSV. A leading quote prevents a spreadsheet from evaluating the text as a formula. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
