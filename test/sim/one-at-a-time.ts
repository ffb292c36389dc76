// A store whose writes are executed one at a time, in the order of the calls: the monitor checks each when it is answered.
import type { Store } from '../../src/store/store.ts';
import { Turns } from '../../src/time/turns.ts';

const writing: ReadonlySet<PropertyKey> = new Set<keyof Store>([
  'commit', 'claim', 'reserveIds', 'stageChildren', 'writeNotes', 'writeSteps', 'beat', 'leave', 'lead', 'extend', 'closeEdges',
  'enqueue', 'takeFromInbox', 'refuseInInbox', 'retryInInbox', 'removeFromInbox', 'writeMemos', 'closeLimit', 'reopenLimit',
  'spendLimit', 'purge',
]);

export function oneAtATime(store: Store): Store {
  const turns = new Turns(1);
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const call = (...values: unknown[]): unknown => (member as (...all: unknown[]) => unknown).apply(target, values);
      return writing.has(name) ? (...values: unknown[]) => turns.take(() => call(...values) as Promise<unknown>) : call;
    },
  });
}
