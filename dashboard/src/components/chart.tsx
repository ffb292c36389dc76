/** A chart of uPlot's, in the colours of the theme and as wide as there is room. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark, timeMode } from '../state/preferences.ts';
import { stamp } from '../words.ts';

export interface Series {
  readonly label: string;
  /** A custom property, such as `--failed`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly shape?: 'line' | 'bars';
  /** Drawn with a dash, so that lines are told apart without colour. */
  readonly dash?: readonly number[];
}

interface ChartProps {
  readonly title: string;
  /** Seconds since 1970, one for each value. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  /** What stands beside a label: the newest value, or all together. */
  readonly tells?: 'newest' | 'sum';
  /** Each on top of those before it. */
  readonly isStacked?: boolean;
  /** How a value is told, such as by `span`. */
  readonly tell: (value: number) => string;
  /** A stretch of time was chosen by dragging. */
  readonly onPick?: (from: number, to: number) => void;
}

export function Chart(props: ChartProps): JSX.Element {
  const { title, times, series, height = 150, isStacked = false, tells = 'newest', tell, onPick } = props;
  const summary = series.map(({ label, values }) => `${label} ${told(values, tells, tell)}`).join(', ');
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shown = isStacked ? stacked(series) : series;
  const key = `${isDark.value} ${timeMode.value} ${height} ${series.map(({ label }) => label).join()}`;
  useEffect(() => {
    const element = box.current!;
    const drawn = new uPlot(optionsOf(element, { series: shown, height, tell, onPick }), dataOf(times, shown), element);
    plot.current = drawn;
    const fit = new ResizeObserver(() => drawn.setSize({ width: Math.max(120, element.clientWidth), height }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [key]);
  useEffect(() => plot.current?.setData(dataOf(times, shown)), [times, series]);
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        {series.map(({ label, colour, values, dash }) => (
          <span class="legend" key={label}>
            <i style={{ background: `var(${colour})` }} data-dashed={dash !== undefined} />
            {label} <b>{told(values, tells, tell)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  );
}

type Drawing = Pick<ChartProps, 'series' | 'height' | 'tell'> & { readonly onPick: ChartProps['onPick'] };

function optionsOf(element: HTMLElement, { series, height = 150, tell, onPick }: Drawing): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--ink-3'), font: `11px ${colour('--sans')}`, ticks: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  };
  return {
    width: Math.max(120, element.clientWidth),
    height,
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { setScale: false, x: onPick !== undefined, y: false } },
    ...(timeMode.peek() === 'UTC' ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1e3), 'Etc/UTC') } : {}),
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.08)] } },
    axes: [
      {
        ...axis, size: 24, grid: { show: false }, space: 70,
        values: (plot, splits) => splits.map((at) => timeWord(at, plot)),
      },
      { ...axis, size: 56, values: (_plot, splits) => splits.map((split) => tell(split)) },
    ],
    series: [{}, ...series.map((one) => lineOf(one, colour))],
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width > 3) onPick?.(plot.posToVal(left, 'x') * 1e3, plot.posToVal(left + width, 'x') * 1e3);
        },
      ],
    },
  };
}

function lineOf({ label, colour: name, shape = 'line', dash }: Series, colour: (name: string) => string): uPlot.Series {
  const stroke = colour(name);
  if (shape === 'bars') {
    const paths = uPlot.paths.bars!({ size: [0.8, 24] });
    return { label, fill: stroke, stroke, width: 0, paths, points: { show: false } };
  }
  const dashes = dash ? { dash: [...dash] } : {};
  return { label, stroke, width: 1.5, spanGaps: true, points: { show: isSparse, size: 5 }, ...dashes };
}

/** The tallest first, so that those painted later leave its top to be seen. */
function stacked(series: readonly Series[]): Series[] {
  const sums = series[0]?.values.map(() => 0) ?? [];
  const tops = series.map((one) => ({
    ...one, values: one.values.map((value, index) => (sums[index] = sums[index]! + (value ?? 0))),
  }));
  return tops.toReversed();
}

const dataOf = (times: readonly number[], series: readonly Series[]): uPlot.AlignedData =>
  [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData;

function told(values: readonly (number | null)[], tells: 'newest' | 'sum', tell: (value: number) => string): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  return tell(tells === 'sum' ? known.reduce((sum, value) => sum + value, 0) : known.at(-1)!);
}

const sparseMax = 20;
/** A line through few values is hard to see, and through one there is none. */
const isSparse = (plot: uPlot, series: number): boolean =>
  Array.from<unknown>(plot.data[series]!).filter((value) => value != null).length <= sparseMax;

const dayMs = 86_400_000;

/** The hour, or the day where the chart spans several. */
function timeWord(at: number, { scales }: uPlot): string {
  const isLong = ((scales['x']?.max ?? 0) - (scales['x']?.min ?? 0)) * 1_000 > 2 * dayMs;
  const word = stamp(at * 1_000, timeMode.peek() === 'UTC' ? 'UTC' : 'local');
  return isLong ? word.slice(5, 10) : word.slice(11, 16);
}
