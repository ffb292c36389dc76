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
  { head: 'MB', figures: ['drain memory'] },
];

/** What only some peers can do, in tables of its own. */
const details: readonly (Detail & { readonly columns: readonly Column[] })[] = [
  {
    title: 'Jobs created in a transaction, ms p50/p95',
    columns: [
      { head: 'create call', figures: ['create in a transaction p50', 'create in a transaction p95'] },
      { head: 'commit to start', figures: ['commit to start p50', 'commit to start p95'] },
      { head: 'at most', figures: ['commit to start max'] },
      { head: 'call to start', figures: ['in a transaction p50', 'in a transaction p95'] },
    ],
  },
  {
    title: 'Steps',
    columns: [
      { head: 'steps/s', figures: ['steps'] },
      { head: 'of one run', figures: ['steps of one run'] },
      { head: 'bytes/step', figures: ['bytes per step'] },
    ],
  },
];

export interface Detail {
  readonly title: string;
}

const nameWidth = 44;
const cellWidth = 14;
const databaseNames: readonly PeerDatabaseName[] = ['postgres', 'sqlite', 'redis'];

export const peerText = ({ name, package: source, settings }: Peer): string =>
  `${name.padEnd(nameWidth)} ${source === 'ours' ? '' : `${versionsOf(source)}; `}${settings}`;

/** What the flows of the peers cannot express, or what they do differently. */
export const flowNotesOf = (peers: readonly Peer[]): string[] =>
  peers.flatMap(({ name, flows }) => (flows?.note === undefined ? [] : `${name}: ${flows.note}`));

export const failureText = ({ peer, measure, why }: Failure): string =>
  `${peer.padEnd(nameWidth)} ${measure}: failed, and is left out: ${errorLine(why)}`;

/** The first line of an error text that contains "error". */
const errorLine = (why: string): string => why.split('\n').find((line) => /error/i.test(line)) ?? why.split('\n')[0]!;

export const figureText = ({ peer, figure, unit, median, rounds, cpu, disturbed }: Figure): string => {
  const us = cpu === null ? '' : `  CPU µs ${cpuText(cpu)}`;
  const all = rounds.length === 1 ? '' : `  (${rounds.map((value) => valueText(value, unit)).join(', ')})`;
  return `${peer.padEnd(nameWidth)} ${figure.padEnd(22)} ${valueText(median, unit).padStart(9)} ${unit}${all}${us}${disturbedText(disturbed)}`;
};

const disturbedText = (disturbed: number): string => (disturbed === 0 ? '' : `  ${disturbed} disturbed`);

export function tableText(figures: readonly Figure[]): string {
  return databaseNames.flatMap((name) => databaseText(figures.filter(({ database }) => database === name))).join('\n');
}

export const detailsText = (tables: readonly (Table & Detail)[]): string =>
  tables.flatMap((table) => ['', ...linesOf(table, table.title)]).join('\n');

function databaseText(figures: readonly Figure[]): string[] {
  if (figures.length === 0) return [];
  const { heads, rows } = tableOf(figures);
  return [
    ...(rows.length > 1 ? ['', ...linesOf({ heads, rows })] : []),
    ...detailsOf(figures).flatMap((table) => ['', ...linesOf(table, table.title)]),
  ];
}

function linesOf({ heads, rows }: Table, title = ''): string[] {
  const line = ([name = '', ...cells]: readonly string[]): string =>
    `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padStart(cellWidth)).join('')}`;
  return [title, line(['', ...heads]), ...rows.map(line)];
}

export interface Table {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The figures of one database: a row for each peer, then the ratio of our engine to the best peer. */
export function tableOf(figures: readonly Figure[]): Table {
  const rows = rowsFor(figures, columns).map(([name, ...cells]) =>
    [name!, drainCpuText(figures.filter(({ peer }) => peer === name)), ...cells]);
  const compared: FigureName[] = ['drain CPU', ...columns.map((column) => column.figures[0])];
  const ratios = ['engine to best peer', ...compared.map((name) => ratioText(figures, name))];
  return { heads: ['µs CPU w + s', ...columns.map(({ head }) => head)], rows: [...rows, ratios] };
}

/** The tables of what only some peers can do, with the CPU of steps. */
export function detailsOf(figures: readonly Figure[]): (Table & Detail)[] {
  return details.flatMap(({ title, columns: own }) => {
    const rows = rowsFor(figures, own);
    if (rows.length === 0) return [];
    const ratios = own.map((column) => ratioText(figures, column.figures[0]));
    const hasPeers = ratios.some((text) => text !== '–');
    const cpu = title === 'Steps' ? { heads: ['µs CPU w + s'], of: (name: string) => [stepCpuText(figures, name)] } : null;
    return [{
      title: `${title}: ${figures[0]!.database}`,
      heads: [...own.map(({ head }) => head), ...(cpu?.heads ?? [])],
      rows: [
        ...rows.map((row) => [...row, ...(cpu?.of(row[0]!) ?? [])]),
        ...(hasPeers ? [['engine to best peer', ...ratios, ...(cpu ? [''] : [])]] : []),
      ],
    }];
  });
}

/** A row for each peer that has one of the figures. */
function rowsFor(figures: readonly Figure[], of: readonly Column[]): string[][] {
  const wanted = new Set(of.flatMap((column) => column.figures));
  const names = [...new Set(figures.filter(({ figure }) => wanted.has(figure)).map(({ peer }) => peer))];
  return names.map((name) => {
    const own = figures.filter(({ peer }) => peer === name);
    return [name, ...of.map((column) => cellText(own, column))];
  });
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

function stepCpuText(figures: readonly Figure[], name: string): string {
  const cpu = figures.find(({ figure, peer }) => figure === 'steps' && peer === name)?.cpu;
  return cpu ? cpuText(cpu) : '–';
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
  unit === 'jobs/s' || unit === 'steps/s' || unit === 'B' || unit === 'MB' ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1);

const versionsOf = (name: PackageName): string =>
  Object.entries(packages[name].dependencies).map(([dependency, version]) => `${dependency} ${version}`).join(', ');
