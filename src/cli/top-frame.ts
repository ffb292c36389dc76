/** The frame of `stint top`: the content of the screen at one moment, as lines of styled spans. */
import type { InstanceView, RunView, StatsView } from '../http/contract.ts';
import type { Fate } from '../model/state.ts';
import { formatDuration } from '../time/duration.ts';
import { bar, harmless, type Style } from './print.ts';

export interface Moment {
  readonly now: number;
  readonly store: string;
  readonly instances: readonly InstanceView[];
  readonly tallies: StatsView['types'];
  /** How many jobs ended per second, by type and fate. */
  readonly rates: ReadonlyMap<string, Readonly<Record<Fate, number>>>;
  readonly running: readonly RunView[];
  readonly oldestDue: number | null;
}

export interface TextSpan {
  readonly text: string;
  readonly style?: Style;
}
export type FrameLine = readonly TextSpan[];

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const typesMax = 12;

export function frameOf(moment: Moment, { columns, rows }: Size): readonly FrameLine[] {
  const lines = [...headOf(moment), [], ...typesOf(moment), [], ...runningOf(moment)];
  const shown = lines.slice(0, Math.max(1, rows - 1)).map((line) => cut(line, columns));
  return [...shown, [{ text: 'q: quit', style: 'dim' }]];
}

function headOf({ now, store, instances, tallies, rates, oldestDue }: Moment): FrameLine[] {
  const alive = instances.filter(({ isAlive }) => isAlive);
  const slots = sum(alive.map((each) => each.slots));
  const busy = sum(alive.map((each) => each.busy));
  const count = (standing: string): number =>
    sum(tallies.filter((each) => each.standing === standing).map((each) => each.count));
  const all = [...rates.values()];
  const failed = sum(all.map((rate) => rate.failed));
  return [
    [{ text: 'Stint ', style: 'bold' }, { text: harmless(store) }, { text: `  ${clockText(now)}`, style: 'dim' }],
    [
      { text: `instances ${alive.length}`, ...(alive.length === 0 ? { style: 'red' as const } : {}) },
      { text: `   slots ${slots === 0 ? '' : `${bar(busy / slots, 12)} `}${busy}/${slots}` },
      { text: `   pending ${count('pending')}`, style: 'blue' },
      { text: `   held ${count('held')}`, style: 'yellow' },
      { text: `   running ${count('running')}`, style: 'cyan' },
    ],
    [
      { text: `succeeded/s ${rateText(sum(all.map((rate) => rate.succeeded)))}`, style: 'green' },
      { text: `   failed/s ${rateText(failed)}`, style: failed > 0 ? 'red' : 'dim' },
      { text: `   cancelled/s ${rateText(sum(all.map((rate) => rate.cancelled)))}`, style: 'dim' },
      { text: `   longest wait ${oldestDue === null ? 'none' : ageText(now - oldestDue)}`, style: 'dim' },
    ],
  ];
}

function typesOf({ tallies, rates }: Moment): FrameLine[] {
  const names = [...new Set([...tallies.map(({ type }) => type), ...rates.keys()])];
  const count = (type: string, standing: string): number =>
    sum(tallies.filter((each) => each.type === type && each.standing === standing).map((each) => each.count));
  const weight = (type: string): number => sum(tallies.filter((each) => each.type === type).map((each) => each.count));
  const shown = names.sort((a, b) => weight(b) - weight(a) || (a < b ? -1 : 1)).slice(0, typesMax);
  const rows = shown.map((type): FrameLine => {
    const { succeeded = 0, failed = 0 } = rates.get(type) ?? {};
    return [
      { text: harmless(type).slice(0, 30).padEnd(32) },
      { text: number(count(type, 'pending')), style: 'blue' },
      { text: number(count(type, 'held')), style: 'yellow' },
      { text: number(count(type, 'running')), style: 'cyan' },
      { text: rateText(succeeded).padStart(10), style: 'green' },
      { text: rateText(failed).padStart(10), style: failed > 0 ? 'red' : 'dim' },
    ];
  });
  const headings = ['PENDING', 'HELD', 'RUNNING', 'DONE/S', 'FAILED/S'].map((text) => text.padStart(10)).join('');
  return [[{ text: `${'TYPE'.padEnd(32)}${headings}`, style: 'dim' }], ...rows];
}

function runningOf({ running, now }: Moment): FrameLine[] {
  const rows = running.map((run): FrameLine => [
    { text: `${String(run.id).padStart(8)}  ` },
    { text: harmless(run.type).slice(0, 24).padEnd(26), style: 'cyan' },
    { text: ageText(now - (run.startedAt ?? now)).padEnd(9) },
    { text: progressText(run).padEnd(44) },
    { text: harmless(holderText(run)), style: 'dim' },
  ]);
  const heading = `${'RUN'.padStart(8)}  ${'TYPE'.padEnd(26)}${'TIME'.padEnd(9)}${'PROGRESS'.padEnd(44)}HOLDER`;
  return [[{ text: heading, style: 'dim' }], ...rows];
}

/**
 * Returns the holder of a running run. Returns "running tasks" for a held run, because held runs are listed only while
 * they wait for tasks. A run in another state has changed since it was listed: returns its state or fate.
 */
function holderText({ state, standing, lease }: RunView): string {
  if (lease !== null) return lease.holder;
  return state === 'held' ? 'running tasks' : standing;
}

function progressText({ tasks, progress }: RunView): string {
  if (tasks !== null) {
    const done = tasks.succeeded + tasks.failed + tasks.cancelled;
    return `${bar(done / tasks.total, 16)} ${done}/${tasks.total}${tasks.failed > 0 ? `, ${tasks.failed} failed` : ''}`;
  }
  if (progress === null) return '';
  const { percent, stage } = progress;
  const text = `${percent === null ? '' : `${bar(percent / 100, 16)} `}${stage?.description ?? ''}`;
  return harmless(text).slice(0, 42);
}

function cut(line: FrameLine, columns: number): FrameLine {
  let room = columns;
  return line.flatMap((span) => {
    const text = span.text.slice(0, room);
    room -= text.length;
    return text === '' ? [] : [{ ...span, text }];
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

const number = (value: number): string => String(value).padStart(10);

const rateText = (rate: number): string => (rate >= 100 || rate === 0 ? String(Math.round(rate)) : rate.toFixed(1));

const ageText = (ms: number): string => formatDuration(Math.max(0, Math.round(ms / 1000)) * 1000);

const clockText = (now: number): string => new Date(now).toISOString().slice(11, 19);
