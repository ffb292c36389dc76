/**
 * The task matrix: one cell for each task, drawn on a canvas. Shape and colour of a cell show the task's state; arrow
 * keys move the focus.
 */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { go } from '../../router.ts';
import { isDark } from '../../state/preferences.ts';
import { standings } from '../../state/run-status.ts';
import { number, duration } from '../../format.ts';
import type { Cells } from './cells.ts';

interface MatrixProps {
  readonly cells: Cells;
  /** A number that rises whenever cells change. */
  readonly version: number;
  /** The indexes of the cells that changed since the last version; null: all. */
  readonly changed: readonly number[] | null;
  readonly label: string;
}

/** Returns the largest cell size with which the matrix is at most 420 px high; at least 6. */
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

  const open = (index: number | null): void => {
    if (index !== null) go(`/runs/${cells.ids[index]}`);
  };
  const indexAt = (event: MouseEvent): number | null => indexUnder(canvas.current!, event, { size, columns, count });
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') open(focus);
    else if (event.key === 'Escape') setFocus(null);
    else moveFocus(event, columns, (by) => setFocus(focus === null ? 0 : Math.max(0, Math.min(count - 1, focus + by))));
  };
  return (
    <div class="matrix" ref={box}>
      <div class="matrix-field">
        <canvas
          ref={canvas} tabIndex={0} role="application" aria-label={label} aria-describedby="matrix-cell"
          data-cells={count} data-version={version}
          onPointerMove={(event) => setFocus(indexAt(event))} onPointerLeave={() => setFocus(null)}
          onClick={(event) => open(indexAt(event))} onKeyDown={onKey} onBlur={() => setFocus(null)}
        />
        {focus !== null && focus < count && <Pointer {...{ focus, size, columns }} />}
      </div>
      <p class="matrix-cell" id="matrix-cell" aria-live="polite">
        {focus === null || focus >= count ? usage : cellText(cells, focus)}
      </p>
    </div>
  );
}

interface Grid {
  readonly size: number;
  readonly columns: number;
  readonly count: number;
}

function indexUnder(canvas: HTMLCanvasElement, event: MouseEvent, { size, columns, count }: Grid): number | null {
  const { left, top } = canvas.getBoundingClientRect();
  const [x, y] = [Math.floor((event.clientX - left) / size), Math.floor((event.clientY - top) / size)];
  const index = y * columns + x;
  return x >= 0 && x < columns && index >= 0 && index < count ? index : null;
}

function moveFocus(event: KeyboardEvent, columns: number, move: (by: number) => void): void {
  const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns };
  const by = steps[event.key];
  if (by === undefined) return;
  event.preventDefault();
  move(by);
}

const usage = 'Point at a cell or use the arrow keys; Enter opens the task.';

function cellText(cells: Cells, index: number): string {
  const ms = cells.ranMs[index];
  const took = ms == null ? '' : `, took ${duration(ms)}`;
  return `Task ${number(index + 1)} (run ${cells.ids[index]}): ${standings[cells.states[index]!]}${took}`;
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
  // Succeeded cells are pale, so that the others stand out.
  const named = standings.map((standing) => (standing === 'succeeded' ? '--cell-succeeded' : `--${standing}`));
  const colours = named.map((name) => style.getPropertyValue(name).trim());
  const paper = style.getPropertyValue('--surface').trim();
  const indexes = changed ?? cells.ids.keys();
  for (const index of indexes) {
    const [x, y] = [(index % columns) * size, Math.floor(index / columns) * size];
    context.clearRect(x, y, size, size);
    const state = cells.states[index]!;
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

/**
 * Draws one cell. Filled: succeeded. Filled with a cross: failed. Half: running. Outline: pending. Bar: held. Slash:
 * cancelled.
 */
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
