/** A time-series chart, drawn by uPlot in the colours of the theme, as wide as its container. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { compact, duration, timestamp } from '../format.ts';
import { isDark, timeMode } from '../state/preferences.ts';
import { countTicks, durationRange, durationTicks } from './chart-scale.ts';

export interface ChartSeries {
  readonly label: string;
  /** The CSS custom property with the colour, such as `--failed`. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
  readonly shape?: 'line' | 'bars';
  /** A dash pattern, so that lines can be distinguished without colour. */
  readonly dash?: readonly number[];
}

interface ChartProps {
  readonly title: string;
  /** The times of the values, in seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /**
   * `count`: the axis starts at 0, and the legend shows the total. `duration`: the axis is logarithmic, and the legend
   * shows the highest value.
   */
  readonly unit: 'count' | 'duration';
  /** The period as text for the legend, such as "last hour". */
  readonly period: string;
  readonly height?: number;
  /** Whether each series is drawn on top of the previous one. */
  readonly isStacked?: boolean;
  /** Called with the period that was selected by dragging. */
  readonly onPick?: (from: number, to: number) => void;
}

export function Chart(props: ChartProps): JSX.Element {
  const { title, times, series, unit, period, height = 150, isStacked = false, onPick } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = isStacked ? stacked(series) : series;
  const key = `${isDark.value} ${timeMode.value} ${height} ${unit} ${series.map(({ label }) => label).join()}`;
  useEffect(() => {
    const element = box.current!;
    const options = optionsOf(element, { series: drawn, height, unit, onPick });
    const created = new uPlot(options, dataOf(times, drawn, unit), element);
    plot.current = created;
    const fit = new ResizeObserver(() => created.setSize({ width: Math.max(120, element.clientWidth), height }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      created.destroy();
      plot.current = null;
    };
  }, [key]);
  useEffect(() => plot.current?.setData(dataOf(times, drawn, unit)), [times, series]);
  const summary = series.map(({ label, values }) => `${label} ${legendValue(values, unit)}`).join(', ');
  const note = `${unit === 'count' ? 'total' : 'highest'}, ${period}`;
  return (
    <figure class="chart">
      <Caption title={title} note={note} series={series} unit={unit} />
      <div ref={box} role="img" aria-label={`${title}: ${summary}`} />
    </figure>
  );
}

interface CaptionProps extends Pick<ChartProps, 'title' | 'series' | 'unit'> {
  readonly note: string;
}

function Caption({ title, note, series, unit }: CaptionProps): JSX.Element {
  return (
    <figcaption>
      <span>{title} <small>{note}</small></span>
      {series.map(({ label, colour, values, dash }) => (
        <span class="legend" key={label}>
          <i style={{ background: `var(${colour})` }} data-dashed={dash !== undefined} />
          {label} <b>{legendValue(values, unit)}</b>
        </span>
      ))}
    </figcaption>
  );
}

type Unit = ChartProps['unit'];

function legendValue(values: readonly (number | null)[], unit: Unit): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return '–';
  return unit === 'count' ? compact(known.reduce((sum, value) => sum + value, 0)) : duration(Math.max(...known));
}

interface Drawing extends Required<Pick<ChartProps, 'series' | 'height' | 'unit'>> {
  readonly onPick: ChartProps['onPick'];
}

function optionsOf(element: HTMLElement, { series, height, unit, onPick }: Drawing): uPlot.Options {
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
    scales: { y: unit === 'count' ? countScale : durationScale },
    axes: [
      {
        ...axis, size: 24, grid: { show: false }, space: 70,
        values: (plot, splits) => splits.map((at) => timeTick(at, plot)),
      },
      { ...axis, size: 56, ...(unit === 'count' ? countAxis : durationAxis) },
    ],
    series: [{}, ...series.map((one) => lineOf(one, colour))],
    hooks: { setSelect: [(plot) => pick(plot, onPick)] },
  };
}

const countScale: uPlot.Scale = { range: (_plot, _min, max) => [0, Math.max(1, max * 1.08)] };
const countAxis: uPlot.Axis = {
  splits: (_plot, _axis, _min, max) => countTicks(max),
  values: (_plot, splits) => splits.map((split) => compact(split)),
};

const durationScale: uPlot.Scale = { distr: 3, log: 10, range: (_plot, min, max) => durationRange(min, max) };
const durationAxis: uPlot.Axis = {
  splits: (_plot, _axis, min, max) => durationTicks(min, max),
  // Replaces the default filter of a logarithmic axis, which hides labels that are not powers of ten.
  filter: (_plot, splits) => splits,
  values: (_plot, splits) => splits.map((split) => duration(split)),
};

function pick(plot: uPlot, onPick: ChartProps['onPick']): void {
  const { left, width } = plot.select;
  if (width > 3) onPick?.(plot.posToVal(left, 'x') * 1e3, plot.posToVal(left + width, 'x') * 1e3);
}

function lineOf(series: ChartSeries, colour: (name: string) => string): uPlot.Series {
  const { label, colour: name, shape = 'line', dash } = series;
  const stroke = colour(name);
  if (shape === 'bars') {
    const paths = uPlot.paths.bars!({ size: [0.8, 24] });
    return { label, fill: stroke, stroke, width: 0, paths, points: { show: false } };
  }
  const dashes = dash ? { dash: [...dash] } : {};
  return { label, stroke, width: 1.5, spanGaps: true, points: { show: isSparse, size: 5 }, ...dashes };
}

/**
 * Returns the running sums of the series, tallest first. uPlot draws in this order, so the shorter bars stay visible in
 * front.
 */
function stacked(series: readonly ChartSeries[]): ChartSeries[] {
  const sums = series[0]?.values.map(() => 0) ?? [];
  const tops = series.map((one) => ({
    ...one, values: one.values.map((value, index) => (sums[index] = sums[index]! + (value ?? 0))),
  }));
  return tops.toReversed();
}

/**
 * The data for uPlot. A logarithmic scale has no zero, so durations below one millisecond are drawn as one millisecond.
 */
function dataOf(times: readonly number[], series: readonly ChartSeries[], unit: Unit): uPlot.AlignedData {
  const drawable = (value: number | null): number | null =>
    value === null || unit === 'count' ? value : Math.max(1, value);
  return [[...times], ...series.map(({ values }) => values.map(drawable))] as uPlot.AlignedData;
}

const sparseMax = 20;
/** Whether values are drawn as points too: a line through few values is hard to see, and a single value has no line. */
const isSparse = (plot: uPlot, series: number): boolean =>
  Array.from<unknown>(plot.data[series]!).filter((value) => value != null).length <= sparseMax;

const dayMs = 86_400_000;

/** The label of a time: the time of day, or the date if the chart spans more than two days. */
function timeTick(at: number, { scales }: uPlot): string {
  const isLong = ((scales['x']?.max ?? 0) - (scales['x']?.min ?? 0)) * 1_000 > 2 * dayMs;
  const text = timestamp(at * 1_000, timeMode.peek() === 'UTC' ? 'UTC' : 'local');
  return isLong ? text.slice(5, 10) : text.slice(11, 16);
}
