/** Leadership: at most one leader at a time for each `role`, with a term that rises with each new leadership. */
import { equal } from 'node:assert/strict';
import { same } from './same.ts';
import type { Topic } from './world.ts';

export const leader: Topic = {
  name: 'leadership',
  examples: {
    'the first instance to ask becomes the leader': async (world) => {
      same(await world.store.lead('role', 'a', 1000), { leader: 'a', term: 1, until: world.now() + 1000 });
    },

    'an instance that asks while another leads learns the leader': async (world) => {
      const first = await world.store.lead('role', 'a', 1000);
      const other = await world.again();
      await world.advance(999);
      same(await other.lead('role', 'b', 5000), first);
    },

    'the leader keeps its term by asking in time': async (world) => {
      await world.store.lead('role', 'a', 1000);
      await world.advance(999);
      same(await world.store.lead('role', 'a', 1000), { leader: 'a', term: 1, until: world.now() + 1000 });
      await world.advance(999);
      equal((await world.store.lead('role', 'b', 1000)).leader, 'a');
    },

    'a lapsed leadership passes to the next instance that asks, with a higher term': async (world) => {
      await world.store.lead('role', 'a', 1000);
      await world.advance(1000);
      same(await world.store.lead('role', 'b', 1000), { leader: 'b', term: 2, until: world.now() + 1000 });
      equal((await world.store.lead('role', 'a', 1000)).leader, 'b');
    },

    'a former leader gets a new term after its leadership lapsed': async (world) => {
      await world.store.lead('role', 'a', 1000);
      await world.advance(1000);
      same(await world.store.lead('role', 'a', 1000), { leader: 'a', term: 2, until: world.now() + 1000 });
    },

    'a leader that leaves is replaced immediately, with a higher term': async (world) => {
      const about = { host: 'h', pid: 1, version: '1', types: [], slots: 1, busy: 0, draining: false };
      await world.store.beat({ id: 'a', leaseMs: 60_000, about, holds: [] });
      await world.store.lead('role', 'a', 60_000);
      await world.store.lead('other role', 'b', 60_000);
      await world.store.leave('a');
      same(await world.store.lead('role', 'c', 1000), { leader: 'c', term: 2, until: world.now() + 1000 });
      equal((await world.store.lead('other role', 'c', 1000)).leader, 'b');
    },

    'a leader that leaves is replaced immediately, even if it never sent a heartbeat': async (world) => {
      await world.store.lead('role', 'a', 60_000);
      await world.store.leave('a');
      same(await world.store.lead('role', 'b', 1000), { leader: 'b', term: 2, until: world.now() + 1000 });
    },

    'each role has a leader and a term of its own': async (world) => {
      await world.store.lead('x', 'a', 1000);
      same(await world.store.lead('y', 'b', 1000), { leader: 'b', term: 1, until: world.now() + 1000 });
    },

    'instances that ask at once all learn the same leader': async (world) => {
      const other = await world.again();
      const asking = Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? other : world.store).lead('role', `instance ${index}`, 1000));
      const answers = await Promise.all(asking);
      equal(new Set(answers.map(({ leader: name, term }) => `${name} ${term}`)).size, 1);
    },
  },
};
