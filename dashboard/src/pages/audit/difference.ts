/** The differences between two JSON values: what an action changed. */
import { exactText } from '../../exact-json.ts';

export interface Difference {
  readonly part: string;
  /** The value as text; null: not set. */
  readonly before: string | null;
  readonly after: string | null;
}

export function differences(before: unknown, after: unknown): readonly Difference[] {
  return compared(before, after, '');
}

function compared(before: unknown, after: unknown, path: string): readonly Difference[] {
  if (isTree(before) && isTree(after)) {
    const parts = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...parts].flatMap((part) => compared(before[part], after[part], path === '' ? part : `${path}.${part}`));
  }
  const [was, is] = [text(before), text(after)];
  return was === is ? [] : [{ part: path, before: was, after: is }];
}

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string | null =>
  value === undefined || value === null ? null : typeof value === 'string' ? value : exactText(value, 0);
