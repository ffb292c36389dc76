/** The results as Markdown: machine and settings, tables, verdicts on the goals, and charts with their slopes. */
import type { Machine } from '../machine.ts';
import type { Verdict } from '../peers/goals.ts';
import type { Figure } from '../peers/comparison.ts';
import { batchTablesOf, flowTablesOf } from '../peers/flow-tables.ts';
import { cpuText, detailsOf, tableOf, valueText as peerValueText, type Detail, type Table } from '../peers/report.ts';
import { machineText, valueText } from '../report.ts';
import type { Row } from '../rounds.ts';
import { bedrockGoals, isReached, limitGoals, type GoalLine } from './goals.ts';
import type { Chart } from './charts.ts';
import type { BedrockData, BenchData, PeersData } from './data.ts';
import { lineName, slopeText } from './svg.ts';

export interface Results {
  readonly bench: BenchData | null;
  readonly peers: PeersData | null;
  readonly bedrock: BedrockData | null;
  readonly charts: readonly Chart[];
}

const notice = '<!-- Written by `npm run bench:results`; do not edit. -->';

export function markdownOf({ bench, peers, bedrock, charts }: Results): string {
  const parts = [
    notice,
    '# Results',
    'How these are measured, and how to read them: [README.md](README.md). What was tried: [LEDGER.md](LEDGER.md).',
    ...(peers ? [...peersParts(peers), ...detailParts(peers), ...flowParts(peers), ...batchParts(peers)] : []),
    ...(bench ? benchParts(bench, charts) : []),
    ...(bedrock ? bedrockParts(bedrock) : []),
    ...(bench ?? peers ?? bedrock ? [] : ['Nothing was measured on a quiet machine yet.']),
  ];
  return `${parts.join('\n\n')}\n`;
}

function bedrockParts(bedrock: BedrockData): string[] {
  const rates = Object.entries(bedrock.perSecond).map(([what, rate]) => [what, Math.round(rate).toLocaleString('en')]);
  return [
    '## The Bedrock server',
    whereText(bedrock.machine, [bedrock.about]),
    table(['', 'per second'], rates),
    goalsTable(bedrockGoals(bedrock)),
  ];
}

/** The figures whose verdicts are in sections of their own. */
const detailed = { steps: /transaction|commit|step/, flows: /^flow/, batches: /^batch/ };

function peersParts({ machine, about, settings, figures, failures, ...data }: PeersData): string[] {
  const tables = byDatabase(figures, (own) => [tableOf(own)]).filter(({ rows }) => rows.length > 1);
  if (tables.length === 0) return [];
  const verdicts = data.verdicts.filter(({ figure }) => !Object.values(detailed).some((own) => own.test(figure)));
  return [
    '## Beside the peers',
    whereText(machine, about),
    settings.map((text) => `- ${text.replace(/ {2,}/, ': ')}`).join('\n'),
    ...failures.map(({ peer, measure }) => `${peer} failed *${measure}* and is left out there.`),
    disturbedText(figures),
    ...tables.map(figuresTable),
    '### Goals',
    `${verdicts.filter(({ isReached }) => isReached).length} of ${verdicts.length} are reached.`,
    verdictsTable(verdicts),
  ];
}

function disturbedText(figures: readonly Figure[]): string {
  const rounds = figures.reduce((sum, figure) => sum + figure.rounds.length, 0);
  const disturbed = figures.reduce((sum, figure) => sum + figure.disturbed, 0);
  return `${disturbed} of ${rounds} readings were taken while other guests of the host slowed the machine down, also at the last try.`;
}

/** What only some peers can do. */
function detailParts({ machine, about, verdicts, ...data }: PeersData): string[] {
  const details = byDatabase(data.figures, detailsOf);
  if (details.length === 0) return [];
  return [
    '## Transactions and steps beside the peers',
    whereText(machine, about),
    settingsText(data, details),
    ...failureTexts(data, ['steps', 'in a transaction']),
    ...details.map(detailText),
    verdictsTable(verdicts.filter(({ figure }) => detailed.steps.test(figure))),
  ];
}

function flowParts(data: PeersData): string[] {
  const tables = flowTablesOf(data.figures);
  const notes = data.flowNotes.length === 0 ? [] : [data.flowNotes.map((note) => `- ${note}.`).join('\n')];
  const ratios = 'The ratios are those of Stint, on PostgreSQL and on SQLite, to each row.';
  return tableParts(data, { title: 'Flows', measure: 'flow shapes', verdicts: detailed.flows, tables, notes: [...notes, ratios] });
}

const batchParts = (data: PeersData): string[] =>
  tableParts(data, { title: 'Batches', measure: 'batch drain', verdicts: detailed.batches, tables: batchTablesOf(data.figures), notes: [] });

interface TableSection {
  readonly title: string;
  readonly measure: string;
  /** The figures whose verdicts the section has. */
  readonly verdicts: RegExp;
  readonly tables: readonly (Table & Detail)[];
  readonly notes: readonly string[];
}

function tableParts({ machine, about, ...data }: PeersData, { title, measure, verdicts, tables, notes }: TableSection): string[] {
  if (tables.length === 0) return [];
  return [
    `## ${title} beside the peers`,
    whereText(machine, about),
    settingsText(data, tables),
    ...failureTexts(data, [measure]),
    ...notes,
    ...tables.map(detailText),
    verdictsTable(data.verdicts.filter(({ figure }) => verdicts.test(figure))),
  ];
}

/** The settings of the peers in these tables. */
function settingsText({ settings }: Pick<PeersData, 'settings'>, tables: readonly Table[]): string {
  const peers = new Set(tables.flatMap(({ rows }) => rows.map(([name]) => name)));
  const own = settings.filter((text) => peers.has(text.split(/ {2,}/)[0]!.trim()));
  return own.map((text) => `- ${text.replace(/ {2,}/, ': ')}`).join('\n');
}

const failureTexts = ({ failures }: Pick<PeersData, 'failures'>, measures: readonly string[]): string[] =>
  failures.filter(({ measure }) => measures.includes(measure))
    .map(({ peer, measure }) => `${peer} failed *${measure}* and is left out there.`);

const detailText = (table: Table & Detail): string => `### ${table.title}\n\n${figuresTable(table)}`;

const byDatabase = <Item>(figures: readonly Figure[], of: (own: readonly Figure[]) => readonly Item[]): Item[] =>
  [...new Set(figures.map(({ database }) => database))].flatMap((name) =>
    of(figures.filter(({ database }) => database === name)));

const figuresTable = ({ heads, rows }: Table): string => table(['', ...heads], rows);

function verdictsTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ database, figure, unit, ours, store, against, baseline, want, got, ...word }) => [
    `${database}: ${figure}`,
    `${peerValueText(ours, unit)} ${unit}`,
    store === null ? '' : peerValueText(store, unit),
    baseline === null ? '' : `${peerValueText(baseline, unit)} (${against})`,
    baseline === null ? '' : `${got.toFixed(2)} ×`,
    baseline === null ? `${want} ${unit}` : `${want} ×`,
    word.isMoonshot ? 'moonshot' : word.isReached ? 'reached' : `**not yet**, by ${shortfall(got, want).toFixed(2)} ×`,
  ]);
  return table(['', 'engine', 'store alone', 'beside', 'ratio', 'wanted', ''], rows);
}

const goalsTable = (lines: readonly GoalLine[]): string =>
  table(['', 'got', 'wanted', ''], lines.map((line) => [
    line.title,
    `${line.got.toFixed(2)} ×`,
    'atLeast' in line.want ? `≥ ${line.want.atLeast} ×` : `≤ ${line.want.atMost} ×`,
    isReached(line) ? 'reached' : '**not yet**',
  ]));

const shortfall = (got: number, want: number): number => Math.max(got / want, want / got);

function benchParts({ machine, databases, rows }: BenchData, charts: readonly Chart[]): string[] {
  const names = Object.keys(databases);
  return [
    '## Beside the raw limit',
    whereText(machine, Object.values(databases)),
    ...names.map((name) => rowsTable(rows.filter(({ database }) => database === name), name)),
    goalsTable(limitGoals(rows)),
    '## How costs grow',
    'The slope is the power with which the figure grows along x: 0 is flat, 1 is in proportion.',
    ...charts.map(({ name, title, lines }) => [
      `### ${title}`,
      `![${title}](results/${name}.svg)`,
      table(['', 'slope'], lines.map((line) => [lineName(line), slopeText(line.points)])),
    ].join('\n\n')),
  ];
}

function rowsTable(rows: readonly Row[], database: string): string {
  const cells = rows.map(({ title, unit, ours, limit, ratio }) => [
    title,
    valueText(ours, unit),
    limit ? valueText(limit, unit) : '',
    unit,
    ratio?.toFixed(2) ?? '',
    ours.cpu ? cpuText(ours.cpu) : '',
  ]);
  return table([database, 'ours', 'limit', 'unit', 'ratio', 'CPU µs, ours'], cells);
}

function whereText(machine: Machine, about: readonly string[]): string {
  const isBusy = machine.loadBefore > machine.cores / 2;
  const warning = isBusy ? ['**The machine was busy with other things: ratios are a hint, rates mean nothing.**'] : [];
  return [machineText(machine), ...about, ...warning].join('  \n');
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`).join('\n');
