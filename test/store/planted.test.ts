// The suite can fail: bugs are planted in the memory store, and each is found by the examples of its topic; those that
// random histories or races can meet are found by these, too.
import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { isOpen, type Job } from '../../src/model/job.ts';
import { findings, topics } from '../../src/conformance/examples.ts';
import { checkRaces } from '../../src/conformance/races.ts';
import { checkHistories } from '../../src/conformance/random-histories.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { Page, PageRequest, Query, Tally } from '../../src/store/query.ts';
import type {
  Batch, Beat, ClaimRequest, ClaimDecision, FeedPage, Holding, Leadership, Note, Store,
} from '../../src/store/store.ts';
import type { Clock } from '../../src/time/clock.ts';

/** A memory store whose clock can be put wrong for a moment. */
class Sound extends MemoryStore {
  readonly #skew: { ms: number };

  constructor(clock: Clock) {
    const skew = { ms: 0 };
    super({ ...clock, now: () => clock.now() + skew.ms });
    this.#skew = skew;
  }

  async wronglyTimed<T>(ms: number, work: () => Promise<T>): Promise<T> {
    this.#skew.ms = ms;
    const answer = work();
    this.#skew.ms = 0;
    return answer;
  }

  /** The job as it is now, whatever the caller saw. */
  async current(id: number): Promise<Job | undefined> {
    return (await this.load([id]))[0];
  }

  /** The holding with the fence that is current. */
  async trueHolding<T extends Holding>(holding: T): Promise<T> {
    return { ...holding, fence: (await this.current(holding.id))?.fence ?? holding.fence };
  }
}

interface Bug {
  readonly title: string;
  readonly plant: new (clock: Clock) => Store;
  /** The topic whose examples must find it. */
  readonly topic: string;
  /** What else must find it. */
  readonly alsoBy?: readonly ('histories' | 'races')[];
}

const idOf = ({ before, after }: Change): number => (before ?? after)!.id;
const longMs = 1_000_000_000;

const bugs: readonly Bug[] = [
  {
    title: 'commit does not look at the version',
    topic: 'commit',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override async commit(batch: Batch): Promise<readonly boolean[]> {
        const forged = batch.changes.map(async (change): Promise<Change> => {
          const now = await this.current(idOf(change));
          return change.before && now ? { ...change, before: { ...change.before, version: now.version } } : change;
        });
        return super.commit({ ...batch, changes: await Promise.all(forged) });
      }
    },
  },
  {
    title: 'a delete does not look at the version',
    topic: 'commit',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async commit(batch: Batch): Promise<readonly boolean[]> {
        const forged = batch.changes.map(async (change): Promise<Change> =>
          change.after === null ? { ...change, before: (await this.current(idOf(change))) ?? change.before } : change);
        return super.commit({ ...batch, changes: await Promise.all(forged) });
      }
    },
  },
  {
    title: 'a whole batch is written in part',
    topic: 'commit',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override commit({ whole: _whole, ...batch }: Batch): Promise<readonly boolean[]> {
        return super.commit(batch);
      }
    },
  },
  {
    title: 'a unique key is taken without looking',
    topic: 'unique keys',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async commit(batch: Batch): Promise<readonly boolean[]> {
        const written = await super.commit(batch);
        const again = batch.changes.map(async (change, index) => {
          if (written[index] || change.before || !change.after || batch.whole) return written[index]!;
          const careless = { ...change, after: { ...change.after, unique: null } };
          return (await super.commit({ changes: [careless] }))[0]!;
        });
        return Promise.all(again);
      }
    },
  },
  {
    title: 'jobs are handed out before they are due',
    topic: 'claim',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override claim(ask: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
        return this.wronglyTimed(longMs, () => super.claim(ask, decide));
      }
    },
  },
  {
    title: 'the oldest job is handed out before the most urgent',
    topic: 'claim',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override claim(ask: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
        return super.claim({ ...ask, limit: 1000 }, (candidates, now, since) => {
          const oldest = [...candidates].sort((a, b) => a.job.id - b.job.id);
          return decide(oldest.slice(0, ask.limit), now, since);
        });
      }
    },
  },
  {
    title: 'a claim does not tell of a cancelled parent',
    topic: 'claim',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override claim(ask: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
        return super.claim(ask, (candidates, now, since) =>
          decide(candidates.map((candidate) => ({ ...candidate, parentCancelled: false })), now, since));
      }
    },
  },
  {
    title: 'the next due time may lie in the past',
    topic: 'claim',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override nextDue(ask: Pick<ClaimRequest, 'kinds' | 'names'>): Promise<number | null> {
        return this.wronglyTimed(-longMs, () => super.nextDue(ask));
      }
    },
  },
  {
    title: 'limits are forgotten',
    topic: 'gates',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override claim({ limits: _limits, ...ask }: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
        return super.claim(ask, decide);
      }
    },
  },
  {
    title: 'anyone extends a lease, whatever the fence',
    topic: 'leases',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
        return super.extend(await Promise.all(holdings.map((holding) => this.trueHolding(holding))), until);
      }
    },
  },
  {
    title: 'a lease that is over can be extended',
    topic: 'leases',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override extend(holdings: readonly Holding[], until: number): Promise<readonly boolean[]> {
        return this.wronglyTimed(-longMs, () => super.extend(holdings, until));
      }
    },
  },
  {
    title: 'a lease lapses before its time',
    topic: 'leases',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override lapsed(limit: number): Promise<readonly Job[]> {
        return this.wronglyTimed(5000, () => super.lapsed(limit));
      }
    },
  },
  {
    title: 'an extension is undone by whoever saw the lease before',
    topic: 'leases',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async commit(batch: Batch): Promise<readonly boolean[]> {
        const forged = batch.changes.map(({ before, ...change }): Change => {
          if (before?.state !== 'running') return { before, ...change };
          return { before: { ...before, lease: { ...before.lease, holder: 'anybody' } }, ...change };
        });
        return super.commit({ ...batch, changes: forged });
      }
    },
  },
  {
    title: 'a parent settles while a child is open',
    topic: 'families',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async settleable(_limit: number, parents?: readonly number[]): Promise<readonly Job[]> {
        const { jobs } = await this.find({ standings: ['held'] }, { limit: 1000 });
        const waiting = jobs.filter((job) => job.state === 'held' && job.hold === 'children');
        return waiting.filter(({ id }) => parents?.includes(id) ?? true);
      }
    },
  },
  {
    title: 'staged children are seen at once',
    topic: 'families',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async stageChildren(_parent: number, _fence: number, children: readonly Change[]): Promise<void> {
        await this.commit({ changes: children });
      }
    },
  },
  {
    title: 'a text to search for has wildcards',
    topic: 'find and count',
    plant: class extends Sound {
      override find(query: Query, page?: PageRequest): Promise<Page> {
        const { text, ...rest } = query;
        return super.find(text === '%' || text === '_' ? rest : query, page);
      }
    },
  },
  {
    title: 'ended jobs are not counted',
    topic: 'find and count',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async count(query: Query): Promise<readonly Tally[]> {
        return (await super.count(query)).filter(({ standing }) => ['pending', 'held', 'running'].includes(standing));
      }
    },
  },
  {
    title: 'old events of a long history are lost',
    topic: 'history and feed',
    plant: class extends Sound {
      override async history(id: number, from = 1, limit = Infinity): ReturnType<Store['history']> {
        const all = await super.history(id);
        return all.slice(-64).filter(({ n }) => n >= from).slice(0, limit);
      }
    },
  },
  {
    title: 'the feed drops an event now and then',
    topic: 'history and feed',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override async eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
        const feed = await super.eventsAfter(cursor, limit);
        return { ...feed, events: feed.events.filter(({ job, event }) => job % 2 === 0 || event.n !== 2) };
      }
    },
  },
  {
    title: 'the feed tells an event twice',
    topic: 'history and feed',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      override async eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
        const feed = await super.eventsAfter(cursor, limit);
        return feed.events.length > 1 ? { ...feed, cursor: String(Number(feed.cursor) - 1) } : feed;
      }
    },
  },
  {
    title: 'the feed tells of what was not written',
    topic: 'history and feed',
    alsoBy: ['histories', 'races'],
    plant: class extends Sound {
      readonly #untrue: FeedPage['events'][number][] = [];
      override async commit(batch: Batch): Promise<readonly boolean[]> {
        const written = await super.commit(batch);
        batch.changes.forEach(({ after, events: [event] }, index) => {
          if (written[index] || !after || !event) return;
          this.#untrue.push({ job: after.id, kind: after.kind, type: after.type, parent: after.parent, event });
        });
        return written;
      }
      override async eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
        const feed = await super.eventsAfter(cursor, limit);
        return { ...feed, events: [...feed.events, ...this.#untrue.splice(0)] };
      }
    },
  },
  {
    title: 'who lost a job still writes its progress',
    topic: 'progress and log',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async writeNotes(notes: readonly Note[]): Promise<readonly boolean[]> {
        return super.writeNotes(await Promise.all(notes.map((note) => this.trueHolding(note))));
      }
    },
  },
  {
    title: 'a beat keeps a cancel to itself',
    topic: 'instances',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async beat(beat: Beat): ReturnType<Store['beat']> {
        return { ...(await super.beat(beat)), cancelled: [] };
      }
    },
  },
  {
    title: 'a new leader goes on with the old term',
    topic: 'leadership',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async lead(role: string, instance: string, leaseMs: number): Promise<Leadership> {
        return { ...(await super.lead(role, instance, leaseMs)), term: 1 };
      }
    },
  },
  {
    title: 'jobs go before their retention is over',
    topic: 'retention',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override purge(options: Parameters<Store['purge']>[0]): Promise<number> {
        return this.wronglyTimed(longMs, () => super.purge(options));
      }
    },
  },
  {
    title: 'payloads are written anew',
    topic: 'create',
    plant: class extends Sound {
      override async load(ids: readonly number[]): Promise<readonly Job[]> {
        return (await super.load(ids)).map((job) => ({ ...job, input: JSON.stringify(JSON.parse(job.input)) }));
      }
    },
  },
  {
    title: 'an id is given twice',
    topic: 'create',
    plant: class extends Sound {
      override async reserveIds(count: number): Promise<number> {
        return Math.max(1, (await super.reserveIds(count)) - 1);
      }
    },
  },
  {
    title: 'a claim is told to two that ask at once',
    topic: 'claim',
    alsoBy: ['races'],
    plant: class extends Sound {
      #last: readonly Change[] = [];
      override async claim(ask: ClaimRequest, decide: ClaimDecision): Promise<readonly Change[]> {
        const changes = await super.claim(ask, decide);
        if (changes.length > 0) this.#last = changes;
        return changes.length > 0 || !this.#last.every(({ after }) => after && isOpen(after)) ? changes : this.#last;
      }
    },
  },
];

const openOf = (Plant: Bug['plant']) => async (clock: Clock) => {
  const store = new Plant(clock);
  return { store, again: async () => store, close: () => store.close() };
};

describe('the examples find that', () => {
  for (const { title, plant, topic } of bugs) {
    test(title, async () => {
      const found = await findings(openOf(plant), topics.filter(({ name }) => name === topic));
      expect(found.map((finding) => finding.title)).not.toEqual([]);
    });
  }
});

describe('random histories find that', () => {
  for (const { title, plant, alsoBy } of bugs) {
    if (!alsoBy?.includes('histories')) continue;
    test(title, async () => {
      const ask = { count: 400, seed: 1, shrinkMs: 1 };
      await expect(checkHistories(openOf(plant), ask)).rejects.toThrow(/differs from the memory store/);
    });
  }
});

describe('races find that', () => {
  for (const { title, plant, alsoBy } of bugs) {
    if (!alsoBy?.includes('races')) continue;
    test(title, async () => {
      const race = async (): Promise<void> => {
        for (let count = 0; count < 10; count += 1) await checkRaces(openOf(plant));
      };
      await expect(race()).rejects.toThrow(/a race was lost/);
    });
  }
});

test('a failing history is reported with the few moves that matter', async () => {
  const [{ plant }] = bugs as [Bug];
  const ask = { count: 400, seed: 1, shrinkMs: 10_000 };
  const told = await checkHistories(openOf(plant), ask).then(() => '', (error: Error) => error.message);
  const steps = told.split('\n').filter((line) => /^ {2}\S/.test(line) && !/ms pass|purge/.test(line));
  expect(steps.length).toBeGreaterThan(0);
  expect(steps.length).toBeLessThanOrEqual(12);
});

test('without a planted bug, the examples find nothing', async () => {
  expect(await findings(openOf(Sound))).toEqual([]);
});
