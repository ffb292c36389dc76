/** The matrix: every task of a run as a cell, told by shape and colour, drawn on a canvas and walked by arrow keys. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from '../../router.ts';
import { isDark } from '../../state/preferences.ts';
import { standings } from '../../state/run-words.ts';
import { number, span } from '../../words.ts';
import type { Cells } from './cells.ts';

interface MatrixProps {
  readonly cells: Cells;
  /** Rises whenever cells changed. */
  readonly version: number;
  /** The changed since the last version; null: all. */
  readonly changed: readonly number[] | null;
  readonly label: string;
}

/** As large as leaves it on one screen, if that can be. */
function sizeFor(count: number, width: number): number {
  const heightMax = 420;
  const fits = [22, 18, 15, 12, 10, 8].find((size) => Math.ceil(count / Math.floor(width / size)) * size <= heightMax);
  return fits ?? 6;
}

export function Matrix({ cells, version, changed, label }: MatrixProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [focus, setFocus] = useState<number | null>(null);
  const count = cells.ids.length;
  const size = sizeFor(count, Math.max(width, 1));
  const columns = Math.max(1, Math.floor(width / size));
  const rows = Math.ceil(count / columns);

  useEffect(() => {
    const fit = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    fit.observe(box.current!);
    return () => fit.disconnect();
  }, []);
  useEffect(() => {
    if (width > 0) draw(canvas.current!, cells, { size, columns, rows }, null);
  }, [cells, width, size, count, isDark.value]);
  useEffect(() => {
    if (width > 0) draw(canvas.current!, cells, { size, columns, rows }, changed);
  }, [version]);

  const placeAt = (event: MouseEvent): number | null => {
    const { left, top } = canvas.current!.getBoundingClientRect();
    const [x, y] = [Math.floor((event.clientX - left) / size), Math.floor((event.clientY - top) / size)];
    const place = y * columns + x;
    return x >= 0 && x < columns && place >= 0 && place < count ? place : null;
  };
  const open = (place: number | null): void => {
    if (place !== null) go(`/runs/${cells.ids[place]}`);
  };
  const walk = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
    if (event.key === 'Enter') return open(focus);
    if (event.key === 'Escape') return setFocus(null);
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setFocus(focus === null ? 0 : Math.max(0, Math.min(count - 1, focus + by)));
  };
  return (
    <div class="matrix" ref={box}>
      <div class="matrix-field">
        <canvas
          ref={canvas} tabIndex={0} role="application" aria-label={label} aria-describedby="matrix-cell"
          data-cells={count} data-version={version}
          onPointerMove={(event) => setFocus(placeAt(event))} onPointerLeave={() => setFocus(null)}
          onClick={(event) => open(placeAt(event))} onKeyDown={walk} onBlur={() => setFocus(null)}
        />
        {focus !== null && focus < count && <Pointer {...{ focus, size, columns }} />}
      </div>
      <p class="matrix-cell" id="matrix-cell" aria-live="polite">
        {focus === null || focus >= count ? invitation : cellText(cells, focus)}
      </p>
    </div>
  );
}

const invitation = 'Point at a cell, or walk with the arrow keys; Enter opens the task.';

function cellText(cells: Cells, place: number): string {
  const ms = cells.ranMs[place];
  const lasted = ms == null ? '' : `, in ${span(ms)}`;
  return `Task ${number(place + 1)} (run ${cells.ids[place]}): ${standings[cells.states[place]!]}${lasted}`;
}

interface PointerProps {
  readonly focus: number;
  readonly size: number;
  readonly columns: number;
}

function Pointer({ focus, size, columns }: PointerProps): JSX.Element {
  const [x, y] = [(focus % columns) * size, Math.floor(focus / columns) * size];
  const side = `${size + 2}px`;
  return <i class="matrix-pointer" style={{ left: `${x - 2}px`, top: `${y - 2}px`, width: side, height: side }} />;
}

interface Layout {
  readonly size: number;
  readonly columns: number;
  readonly rows: number;
}

function draw(canvas: HTMLCanvasElement, cells: Cells, layout: Layout, changed: readonly number[] | null): void {
  const { size, columns, rows } = layout;
  const scale = devicePixelRatio;
  const context = canvas.getContext('2d')!;
  if (changed === null) {
    canvas.width = columns * size * scale;
    canvas.height = rows * size * scale;
    canvas.style.width = `${columns * size}px`;
    canvas.style.height = `${rows * size}px`;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  const style = getComputedStyle(canvas);
  // What succeeded is calm, so that the rest is seen.
  const named = standings.map((standing) => (standing === 'succeeded' ? '--cell-succeeded' : `--${standing}`));
  const colours = named.map((name) => style.getPropertyValue(name).trim());
  const paper = style.getPropertyValue('--surface').trim();
  const places = changed ?? cells.ids.keys();
  for (const place of places) {
    const [x, y] = [(place % columns) * size, Math.floor(place / columns) * size];
    context.clearRect(x, y, size, size);
    const state = cells.states[place]!;
    drawCell(context, { x, y, side: size - (size > 7 ? 2 : 1), state, colour: colours[state]!, paper });
  }
}

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly side: number;
  readonly state: number;
  readonly colour: string;
  readonly paper: string;
}

const standingOf = (state: number): string => standings[state]!;

/** Full: succeeded. Full with a stroke across: failed. Half: running. Outline: pending. Others: a bar or a slash. */
function drawCell(context: CanvasRenderingContext2D, { x, y, side, state, colour, paper }: Cell): void {
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.lineWidth = 1;
  switch (standingOf(state)) {
    case 'succeeded':
      context.fillRect(x, y, side, side);
      return;
    case 'failed':
      context.fillRect(x, y, side, side);
      context.strokeStyle = paper;
      context.lineWidth = Math.max(1, side / 7);
      stroke(context, x + side * 0.2, y + side * 0.2, x + side * 0.8, y + side * 0.8);
      stroke(context, x + side * 0.8, y + side * 0.2, x + side * 0.2, y + side * 0.8);
      return;
    case 'running':
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      context.fillRect(x, y + side / 2, side, side / 2);
      return;
    case 'held':
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      context.fillRect(x + side * 0.38, y, side * 0.24, side);
      return;
    case 'cancelled':
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
      stroke(context, x, y, x + side, y + side);
      return;
    default:
      context.strokeRect(x + 0.5, y + 0.5, side - 1, side - 1);
  }
}

function stroke(context: CanvasRenderingContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}
