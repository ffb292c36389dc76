/**
 * The graph of a flow: layers of nodes, laid out by CSS from left to right, or from top to bottom on a narrow screen, and
 * lines that are drawn behind them between the places that the nodes have got.
 */
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Answer } from '../../../../src/http/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { number } from '../../format.ts';
import { href } from '../../router.ts';

type FlowGraph = Answer<'getFlowGraph'>;
type Layer = FlowGraph['layers'][number];
type Node = Layer['nodes'][number];
type Edge = FlowGraph['edges'][number];

const conditions: Readonly<Record<Edge['on'], string>> = {
  succeeded: 'starts after success', failed: 'starts after a failure', ended: 'starts after the end, whatever happened',
};

export function Graph({ graph }: { readonly graph: FlowGraph }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const lines = useLines(box, graph.edges);
  const names = new Map(graph.layers.flatMap(({ nodes }) => nodes.map((node) => [node.key, nameOf(node)] as const)));
  return (
    <section class="card">
      <h2>Graph</h2>
      {graph.isGrouped && (
        <p class="faint">
          {number(graph.runs)} runs{graph.isCut ? ', the first of the flow,' : ''} in groups of the same definition or type and
          state. The table below has each of them.
        </p>
      )}
      <div class="flow-graph" role="region" aria-label="Graph of the flow" tabIndex={0}>
        <div class="flow-layers" ref={box}>
          <svg class="flow-lines" aria-hidden="true" focusable="false">
            {lines.map(({ key, d, on, outcome }) => <path key={key} d={d} data-on={on} data-outcome={outcome ?? 'open'} />)}
          </svg>
          <ol>
            {graph.layers.map((layer) => (
              <li key={layer.from}>
                <span class="flow-depth faint">{depthOf(layer)}</span>
                <ul>
                  {layer.nodes.map((node) => (
                    <li key={node.key}><NodeCard node={node} follows={followsText(node, graph.edges, names)} /></li>
                  ))}
                </ul>
              </li>
            ))}
          </ol>
        </div>
      </div>
      <ul class="flow-legend faint">
        {(Object.keys(conditions) as Edge['on'][]).filter((on) => graph.edges.some((edge) => edge.on === on)).map((on) => (
          <li key={on}>
            <svg class="flow-sample" aria-hidden="true" focusable="false" viewBox="0 0 36 8">
              <path d="M1 4H35" data-on={on} />
            </svg>
            {conditions[on]}
          </li>
        ))}
      </ul>
    </section>
  );
}

const depthOf = ({ from, to }: Layer): string => (from === to ? `Layer ${from + 1}` : `Layers ${from + 1}–${to + 1}`);

const nameOf = ({ def, type }: Node): string => def ?? type ?? 'other types';

function NodeCard({ node, follows }: { readonly node: Node; readonly follows: string | undefined }): JSX.Element {
  const { key, standing, count, run } = node;
  return (
    <a class="flow-node" data-status={standing} data-node={key} href={href(`/runs/${run}`)} title={follows}>
      <b>{nameOf(node)}</b>
      <span class="flow-node-foot">
        <Badge status={standing} />
        <span class="mono">{count === 1 ? run : `${number(count)} runs`}</span>
      </span>
    </a>
  );
}

function followsText({ key }: Node, edges: readonly Edge[], names: ReadonlyMap<string, string>): string | undefined {
  const own = edges.filter(({ to }) => to === key);
  if (own.length === 0) return undefined;
  const followed = [...new Set(own.map(({ from }) => names.get(from) ?? from))];
  return `${conditions[own[0]!.on]} of ${followed.join(', ')}`;
}

interface Line extends Pick<Edge, 'on' | 'outcome'> {
  readonly key: string;
  readonly d: string;
}

/** Returns the lines between nodes, measured after each layout. */
function useLines(box: RefObject<HTMLDivElement | null>, edges: readonly Edge[]): readonly Line[] {
  const [lines, setLines] = useState<readonly Line[]>([]);
  useLayoutEffect(() => {
    const measure = (): void => setLines((before) => {
      const after = linesIn(box.current!, edges);
      return JSON.stringify(after) === JSON.stringify(before) ? before : after;
    });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [edges]);
  return lines;
}

function linesIn(box: HTMLElement, edges: readonly Edge[]): readonly Line[] {
  const origin = box.getBoundingClientRect();
  const places = new Map([...box.querySelectorAll<HTMLElement>('[data-node]')].map((node) =>
    [node.dataset['node']!, node.getBoundingClientRect()] as const));
  return edges.flatMap(({ from, to, on, outcome }): readonly Line[] => {
    const [start, end] = [places.get(from), places.get(to)];
    if (start === undefined || end === undefined) return [];
    return [{ key: `${from} ${to} ${on}`, d: curve(start, end, origin), on, outcome }];
  });
}

/** So far apart are layers that are beside each other; nodes of layers below each other are closer. */
const besideMin = 30;

/** From the right side to the left side of a node in a layer further right, or else from the bottom to the top. */
function curve(start: DOMRect, end: DOMRect, origin: DOMRect): string {
  const [left, top] = [origin.left, origin.top];
  if (end.left - start.right >= besideMin) {
    const [x1, y1] = [start.right - left, start.top + start.height / 2 - top];
    const [x2, y2] = [end.left - left, end.top + end.height / 2 - top];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1] = [start.left + start.width / 2 - left, start.bottom - top];
  const [x2, y2] = [end.left + end.width / 2 - left, end.top - top];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}
