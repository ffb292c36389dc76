/** Draws a chart as SVG with logarithmic axes; x = 0 is drawn one step below the lowest x. */
import type { Chart, Line } from './charts.ts';
import { slopeOf, type Point } from './slope.ts';

const [width, height] = [640, 400];
const plot = { left: 70, right: 450, top: 44, bottom: 344 };
const colours = { sqlite: '#0f766e', postgres: '#1d4ed8' };

type Scale = (value: number) => number;

export function svgOf({ title, xTitle, unit, lines }: Chart): string {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(({ x }) => x))].toSorted((a, b) => a - b);
  const x = xScale(xs);
  const y = yScale(points.map((point) => point.y));
  const parts = [
    `<text x="${plot.left}" y="24" class="title">${title}</text>`,
    ...xs.map((value) => tickAt(x(value), plot.bottom + 18, 'middle', countText(value))),
    ...y.ticks.map((value) => rule(y.scale(value))),
    ...y.ticks.map((value) => tickAt(plot.left - 8, y.scale(value) + 4, 'end', countText(value))),
    tickAt((plot.left + plot.right) / 2, plot.bottom + 40, 'middle', xTitle),
    tickAt(plot.left - 8, plot.top - 16, 'end', unit),
    ...lines.flatMap((line, index) => [drawn(line, x, y.scale), legend(line, index)]),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>text{font:12px system-ui,sans-serif;fill:#334155}.title{font-size:15px;font-weight:600;fill:#0f172a}</style>
<rect width="${width}" height="${height}" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}

/** The slope of a line with two decimals, or a dash. */
export const slopeText = (points: readonly Point[]): string => slopeOf(points)?.toFixed(2) ?? '–';

export const lineName = ({ database, side }: Line): string =>
  `${database === 'sqlite' ? 'SQLite' : 'PostgreSQL'}${side === 'limit' ? ', the limit' : ''}`;

function xScale(xs: readonly number[]): Scale {
  const beyond = xs.filter((x) => x > 0);
  const [first, last] = [beyond[0] ?? 1, beyond.at(-1) ?? 1];
  const step = beyond.length > 1 ? Math.log(beyond[1]! / first) : 1;
  const low = xs[0] === 0 ? Math.log(first) - step : Math.log(first);
  const span = Math.log(last) - low || 1;
  return (x) => plot.left + ((x === 0 ? 0 : Math.log(x) - low) / span) * (plot.right - plot.left);
}

function yScale(ys: readonly number[]): { readonly scale: Scale; readonly ticks: readonly number[] } {
  const low = Math.floor(Math.log10(Math.min(...ys)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...ys))));
  const scale: Scale = (y) => plot.bottom - ((Math.log10(y) - low) / (high - low)) * (plot.bottom - plot.top);
  const decades = Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index));
  const ticks = decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]).filter((tick) => tick <= 10 ** high);
  return { scale, ticks };
}

function drawn({ database, side, points }: Line, x: Scale, y: Scale): string {
  const coordinates = points.map((point) => `${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`);
  const [colour, dash] = [colours[database], side === 'limit' ? ' stroke-dasharray="5 4"' : ''];
  const dots = coordinates.map((pair) => {
    const [cx, cy] = pair.split(',');
    return `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`;
  });
  const line = `<polyline points="${coordinates.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"${dash}/>`;
  return `${line}${dots.join('')}`;
}

function legend(line: Line, index: number): string {
  const top = plot.top + 12 + index * 36;
  const [colour, dash] = [colours[line.database], line.side === 'limit' ? ' stroke-dasharray="5 4"' : ''];
  const left = plot.right + 16;
  return [
    `<line x1="${left}" y1="${top - 4}" x2="${left + 22}" y2="${top - 4}" stroke="${colour}" stroke-width="2"${dash}/>`,
    tickAt(left + 30, top, 'start', lineName(line)),
    tickAt(left + 30, top + 15, 'start', `slope ${slopeText(line.points)}`),
  ].join('');
}

const tickAt = (x: number, y: number, anchor: 'start' | 'middle' | 'end', text: string): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${text}</text>`;

const rule = (y: number): string =>
  `<line x1="${plot.left}" y1="${y.toFixed(1)}" x2="${plot.right}" y2="${y.toFixed(1)}" stroke="#e2e8f0"/>`;

const countText = (value: number): string => {
  if (value >= 1_000_000) return `${value / 1_000_000} M`;
  return value >= 1_000 ? `${value / 1_000} k` : String(Number(value.toPrecision(2)));
};
