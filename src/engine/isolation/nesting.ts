/** Nesting: a child knows that it is one, so that a module which starts an engine cannot start children without end. */
import { Refusal } from '../../refusal.ts';

const isolated = Symbol.for('stint.isolated');

export function markAsIsolated(): void {
  Object.defineProperty(globalThis, isolated, { value: true });
}

export function refuseNesting(module: string): void {
  if (!(isolated in globalThis)) return;
  const message = `cannot isolate within an isolated handler: does ${module} start an engine when it is imported?`;
  throw new Refusal('malformed.option', message, { module });
}
