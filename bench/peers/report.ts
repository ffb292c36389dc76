/** The report: peers with their settings, a table of figures for each database, and verdicts on the goals. */
import { ratioToBest, type Verdict } from './goals.ts';
import type { Failure, Figure } from './comparison.ts';
import type { Peer, PeerDatabaseName } from './peer.ts';
import { packages, type PackageName } from './packages.ts';
import type { FigureName, Unit } from './reading.ts';

interface Column {
  readonly head: string;
  readonly figures: readonly [FigureName, ...FigureName[]];
}

const columns: readonly Column[] = [
  { head: 'create', figures: ['create single'] },
  { head: '16 in flight', figures: ['create in flight'] },
  { head: 'bulk 1,000', figures: ['create bulk'] },
  { head: 'drain', figures: ['drain 1'] },
  { head: 'by 2', figures: ['drain 2'] },
  { head: 'pick-up ms', figures: ['pick-up here p50', 'pick-up here p95'] },
  { head: 'elsewhere ms', figures: ['pick-up elsewhere p50', 'pick-up elsewhere p95'] },
  { head: 'tx ms', figures: ['in a transaction p50', 'in a transaction p95'] },
  { head: 'MB', figures: ['drain memory'] },
];

const nameWidth = 28;
const cellWidth = 14;
const databaseNames: readonly PeerDatabaseName[] = ['postgres', 'sqlite', 'redis'];

export const peerText = ({ name, package: source, settings }: Peer): string =>
  `${name.padEnd(nameWidth)} ${source === 'ours' ? '' : `${versionsOf(source)}; `}${settings}`;

export const failureText = ({ peer, measure, why }: Failure): string =>
  `${peer.padEnd(nameWidth)} ${measure}: failed, and is left out: ${errorLine(why)}`;

/** The first line of an error text that contains "error". */
const errorLine = (why: string): string => why.split('\n').find((line) => /error/i.test(line)) ?? why.split('\n')[0]!;

export const figureText = ({ peer, figure, unit, median, rounds, cpu }: Figure): string => {
  const us = cpu === null ? '' : `  CPU µs ${cpuText(cpu)}`;
  const all = rounds.length === 1 ? '' : `  (${rounds.map((value) => valueText(value, unit)).join(', ')})`;
  return `${peer.padEnd(nameWidth)} ${figure.padEnd(22)} ${valueText(median, unit).padStart(9)} ${unit}${all}${us}`;
};

export function tableText(figures: readonly Figure[]): string {
  return databaseNames.flatMap((name) => databaseText(figures.filter(({ database }) => database === name))).join('\n');
}

function databaseText(figures: readonly Figure[]): string[] {
  if (figures.length === 0) return [];
  const { heads, rows } = tableOf(figures);
  const line = ([name = '', ...cells]: readonly string[]): string =>
    `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padStart(cellWidth)).join('')}`;
  return ['', line(['', ...heads]), ...rows.map(line)];
}

interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The figures of one database: a row for each peer, then the ratio of our engine to the best peer. */
export function tableOf(figures: readonly Figure[]): Table {
  const names = [...new Set(figures.map(({ peer }) => peer))];
  const rows = names.map((name) => {
    const own = figures.filter(({ peer }) => peer === name);
    return [name, drainCpuText(own), ...columns.map((column) => cellText(own, column))];
  });
  const compared: FigureName[] = ['drain CPU', ...columns.map((column) => column.figures[0])];
  const ratios = ['engine to best peer', ...compared.map((name) => ratioText(figures, name))];
  return { heads: ['µs CPU w + s', ...columns.map(({ head }) => head)], rows: [...rows, ratios] };
}

const ratioText = (figures: readonly Figure[], name: FigureName): string => {
  const ratio = ratioToBest(figures, name);
  return ratio === null ? '–' : `${ratio.toFixed(2)} ×`;
};

function cellText(figures: readonly Figure[], column: Column): string {
  const texts = column.figures.map((name) => {
    const found = figures.find(({ figure }) => figure === name);
    return found ? valueText(found.median, found.unit) : '–';
  });
  return texts.join('/');
}

function drainCpuText(figures: readonly Figure[]): string {
  const cpu = figures.find(({ figure }) => figure === 'drain 1')?.cpu;
  return cpu ? cpuText(cpu) : '–';
}

export const cpuText = ({ clientUs, serverUs }: NonNullable<Figure['cpu']>): string =>
  `${clientUs.toFixed(0)}${serverUs === null ? '' : ` + ${serverUs.toFixed(0)}`}`;

export function verdictText(verdict: Verdict): string {
  const { database, figure, unit, ours, store, against, baseline, want, got, isReached, isMoonshot } = verdict;
  const compared = baseline === null ? '' : ` beside ${valueText(baseline, unit)} of ${against}: ${got.toFixed(2)} ×`;
  const wanted = `wanted ${want}${baseline === null ? ` ${unit}` : ' ×'}`;
  const alone = store === null ? '' : `; store alone ${valueText(store, unit)}`;
  const word = isMoonshot ? 'MOONSHOT' : isReached ? 'reached' : 'not yet';
  const what = `${word.padEnd(9)} ${database.padEnd(9)} ${figure.padEnd(22)}`;
  return `${what} ${valueText(ours, unit)} ${unit}${compared} (${wanted}${alone})`;
}

export const valueText = (value: number, unit: Unit): string =>
  unit === 'jobs/s' || unit === 'MB' ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1);

const versionsOf = (name: PackageName): string =>
  Object.entries(packages[name].dependencies).map(([dependency, version]) => `${dependency} ${version}`).join(', ');
