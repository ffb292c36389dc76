/** A chart of uPlot's, in the colours of the theme and as wide as there is room. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark, timeMode } from '../state/preferences.ts';

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
  /** How a value is told, such as by `span`. */
  readonly tell: (value: number) => string;
  /** A stretch of time was chosen by dragging. */
  readonly onPick?: (from: number, to: number) => void;
}

export function Chart({ title, times, series, height = 150, tell, onPick }: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const key = `${isDark.value} ${timeMode.value} ${height} ${series.map(({ label }) => label).join()}`;
  useEffect(() => {
    const element = box.current!;
    const drawn = new uPlot(optionsOf(element, { series, height, tell, onPick }), dataOf(times, series), element);
    plot.current = drawn;
    const fit = new ResizeObserver(() => drawn.setSize({ width: Math.max(120, element.clientWidth), height }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [key]);
  useEffect(() => plot.current?.setData(dataOf(times, series)), [times, series]);
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        {series.map(({ label, colour, values, dash }) => (
          <span class="legend" key={label}>
            <i style={{ background: `var(${colour})` }} data-dashed={dash !== undefined} />
            {label} <b>{lastOf(values) === null ? '–' : tell(lastOf(values)!)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={box} role="img" aria-label={summary(title, series, tell)} />
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
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 6 }, drag: { setScale: false, x: onPick !== undefined, y: false } },
    ...(timeMode.peek() === 'UTC' ? { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1e3), 'Etc/UTC') } : {}),
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max * 1.08)] } },
    axes: [
      { ...axis, size: 26, grid: { show: false } },
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
    return { label, fill: stroke, stroke, width: 0, paths: uPlot.paths.bars!({ size: [0.8, 24] }), points: { show: false } };
  }
  return { label, stroke, width: 1.5, spanGaps: false, points: { show: false }, ...(dash ? { dash: [...dash] } : {}) };
}

const dataOf = (times: readonly number[], series: readonly Series[]): uPlot.AlignedData =>
  [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData;

const lastOf = (values: readonly (number | null)[]): number | null => values.findLast((value) => value !== null) ?? null;

function summary(title: string, series: readonly Series[], tell: (value: number) => string): string {
  const parts = series.map(({ label, values }) => {
    const last = lastOf(values);
    return `${label} ${last === null ? 'nothing yet' : tell(last)}`;
  });
  return `${title}: ${parts.join(', ')}`;
}
