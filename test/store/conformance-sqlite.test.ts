// The SQLite store under the conformance suite: alone on its file, and as two connections that take turns.
import { storeConformance } from '../../src/conformance/index.ts';
import type { ClaimRequest, Store } from '../../src/store/store.ts';
import { bySize } from '../support/size.ts';
import { stores } from '../support/stores.ts';
import { conform } from './conform.ts';

conform('SQLite');

const sqlite = stores.find(({ name }) => name === 'SQLite')!;

// The same examples once more: in the proof.
if (bySize({ small: false, ci: true })) {
  storeConformance('SQLite, two connections on one file,', {
    open: async (clock) => {
      const opened = await sqlite.open(clock);
      return { ...opened, store: inTurns([opened.store, await opened.again()]) };
    },
    histories: 500,
    queries: 0,
    races: 0,
  });
}

/**
 * Every call goes to the next connection; `nextDue` to that of the last claim, which knows why it found no job, and claims
 * of the examples of fair share to the first, because each connection has turns of its own.
 */
function inTurns(connections: readonly Store[]): Store {
  let calls = 0;
  let claimer = connections[0]!;
  return new Proxy(connections[0]!, {
    get: (_target, name: keyof Store) => (...values: never[]) => {
      const next = connections[isFairClaim(name, values) ? 0 : calls++ % connections.length]!;
      const connection = name === 'nextDue' ? claimer : next;
      if (name === 'claim') claimer = connection;
      return (connection[name] as (...given: never[]) => unknown)(...values);
    },
  });
}

function isFairClaim(name: keyof Store, [request]: readonly unknown[]): boolean {
  const { names } = (name === 'claim' ? request : {}) as Partial<ClaimRequest>;
  return names !== undefined && 'exact' in names && names.exact.includes('fair');
}
