/** The tables of flows, one for each shape, and of drains in batches: the peers of all databases, with our ratios to each. */
import type { Figure } from './comparison.ts';
import { flowShapes, type FlowShape } from './flow.ts';
import { cpuText, valueText, type Detail, type Table } from './report.ts';
import type { FigureName } from './reading.ts';

export const flowTablesOf = (figures: readonly Figure[]): (Table & Detail)[] =>
  flowShapes.flatMap((shape) => flowTable(figures, shape));

const ours = [
  { head: 'PostgreSQL ×', peer: 'Stint engine on PostgreSQL' },
  { head: 'SQLite ×', peer: 'Stint engine on SQLite' },
] as const;

function flowTable(figures: readonly Figure[], shape: FlowShape): (Table & Detail)[] {
  const rates = figures.filter(({ figure }) => figure === `flow ${shape}`);
  if (rates.length === 0) return [];
  const ms = (peer: string, name: FigureName): number =>
    figures.find((each) => each.peer === peer && each.figure === name)!.median;
  return [{
    title: `Flow: ${shape}`,
    heads: ['runs', 'create ms', 'rest ms', 'runs/s', 'µs CPU w + s', ...ours.map(({ head }) => head)],
    rows: rates.map((rate) => {
      const [create, total] = [ms(rate.peer, `create flow ${shape}`), ms(rate.peer, `time of flow ${shape}`)];
      const times = [create, total - create].map((each) => Math.round(each).toLocaleString('en'));
      const runs = (rate.jobs ?? 0).toLocaleString('en');
      return [rate.peer, runs, ...times, ...rateCells(rate), ...ours.map(({ peer }) => ratioText(rates, peer, rate))];
    }),
  }];
}

export function batchTablesOf(figures: readonly Figure[]): (Table & Detail)[] {
  const rates = figures.filter(({ figure }) => figure === 'batch drain');
  if (rates.length === 0) return [];
  return [{
    title: 'Drain in batches',
    heads: ['jobs/s', 'µs CPU w + s', 'Stint ×'],
    rows: rates.map((rate) => [rate.peer, ...rateCells(rate), ratioText(rates, 'Stint batches on PostgreSQL', rate)]),
  }];
}

const rateCells = ({ median, unit, cpu }: Figure): string[] => [valueText(median, unit), cpu ? cpuText(cpu) : '–'];

function ratioText(rates: readonly Figure[], peer: string, beside: Figure): string {
  const own = rates.find((each) => each.peer === peer);
  return !own || own === beside ? '' : `${(own.median / beside.median).toFixed(2)} ×`;
}
