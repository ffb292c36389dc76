/** A collapsible tree of JSON. Numbers are shown as in the source; everything is rendered as text. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ExactNumber, exactText } from '../exact-json.ts';
import { plural } from '../format.ts';
import { Icon } from './icon.tsx';
import { withToast } from './toast.tsx';

interface JsonViewProps {
  readonly value: unknown;
  /** The name of the value for screen readers and messages, such as "Input". */
  readonly label: string;
  readonly openDepth?: number;
}

const membersMax = 100;
const textMax = 2_000;

export function JsonView({ value, label, openDepth = 3 }: JsonViewProps): JSX.Element {
  const copy = (): Promise<unknown> =>
    withToast(() => navigator.clipboard.writeText(exactText(value)), () => `Copied: ${label}`);
  return (
    <div class="json">
      <button
        type="button" class="plain json-copy" onClick={() => void copy()} aria-label={`Copy ${label}`} title="Copy"
      >
        <Icon name="copy" />
      </button>
      <div class="json-tree" role="group" aria-label={label} tabIndex={0}>
        <Node name={null} value={value} path="$" depth={0} openDepth={openDepth} />
      </div>
    </div>
  );
}

interface NodeProps {
  readonly name: string | null;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
  readonly openDepth: number;
}

function Node(props: NodeProps): JSX.Element {
  const { value } = props;
  const isTree = typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
  return isTree ? <Branch {...props} value={value} /> : <Leaf {...props} />;
}

function Branch({ name, value, path, depth, openDepth }: NodeProps & { readonly value: object }): JSX.Element {
  const members = Object.entries(value);
  const [isOpen, setOpen] = useState(depth < openDepth && members.length <= membersMax);
  const [shown, setShown] = useState(membersMax);
  const isList = Array.isArray(value);
  const [left, right] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return <div class="json-line"><Name name={name} path={path} />{left}{right}</div>;
  return (
    <div class="json-branch">
      <div class="json-line">
        <button
          type="button" class="plain json-fold" aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Collapse' : 'Expand'} ${name ?? 'value'}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'down' : 'right'} />
        </button>
        <Name name={name} path={path} />
        {left}
        {!isOpen && <span class="faint"> {plural(members.length, isList ? 'item' : 'member')} {right}</span>}
      </div>
      {isOpen && (
        <div class="json-members">
          {members.slice(0, shown).map(([key, member]) => (
            <Node
              key={key} name={isList ? null : key} value={member} depth={depth + 1} openDepth={openDepth}
              path={isList ? `${path}[${key}]` : pathTo(path, key)}
            />
          ))}
          {members.length > shown && (
            <button type="button" class="link" onClick={() => setShown(shown + 10 * membersMax)}>
              Show {members.length - shown} more
            </button>
          )}
        </div>
      )}
      {isOpen && <div class="json-line">{right}</div>}
    </div>
  );
}

const pathTo = (path: string, key: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

function Name({ name, path }: { readonly name: string | null; readonly path: string }): JSX.Element | null {
  return name === null ? null : <span class="json-name" title={path}>{name}<i>: </i></span>;
}

function Leaf({ name, value, path }: NodeProps): JSX.Element {
  const [isExpanded, setExpanded] = useState(false);
  const text = value instanceof ExactNumber ? value.text : JSON.stringify(value) ?? 'undefined';
  const kind = value instanceof ExactNumber ? 'number' : value === null ? 'null' : typeof value;
  const isCut = text.length > textMax && !isExpanded;
  return (
    <div class="json-line">
      <Name name={name} path={path} />
      <span data-kind={kind}>{isCut ? `${text.slice(0, textMax)}…` : text}</span>
      {isCut && (
        <button type="button" class="link" onClick={() => setExpanded(true)}>
          Show all {text.length} characters
        </button>
      )}
    </div>
  );
}
