// Bugs in reading: finding and counting, histories and the feed.
import { endedStandings, type Page, type PageRequest, type Query, type Tally } from '../../../src/store/query.ts';
import type { Batch, FeedPage, LatestEnd, Store } from '../../../src/store/store.ts';
import { Sound, type Bug } from './bug.ts';

export const readBugs: readonly Bug[] = [
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
    title: 'the latest run is the one that was created last',
    topic: 'latest runs',
    plant: class extends Sound {
      override async latestEnds(defs: readonly string[]): Promise<ReadonlyMap<string, LatestEnd>> {
        const found = new Map(await super.latestEnds(defs));
        for (const def of found.keys()) {
          const [job] = (await super.find({ kinds: ['run'], def, standings: endedStandings }, { limit: 1 })).jobs;
          if (job?.state === 'ended') found.set(def, { id: job.id, fate: job.fate, endedAt: job.endedAt });
        }
        return found;
      }
    },
  },
  {
    title: 'open runs that wait for a retry have not started',
    topic: 'latest runs',
    alsoBy: ['histories'],
    plant: class extends Sound {
      override async startedRuns(defs: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
        const pending = (await super.find({ standings: ['pending'] }, { limit: 1_000 })).jobs.map(({ id }) => id);
        const started = [...await super.startedRuns(defs)].map(([def, ids]) => [def, ids.filter((id) => !pending.includes(id))] as const);
        return new Map(started.filter(([, ids]) => ids.length > 0));
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
    title: 'the histories of many jobs lack their last events',
    topic: 'history and feed',
    plant: class extends Sound {
      override async histories(ids: readonly number[]): ReturnType<Store['histories']> {
        return new Map([...(await super.histories(ids))].map(([id, events]) => [id, events.slice(0, -1)]));
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
    title: 'the feed has the definition of the first job for all jobs of a page',
    topic: 'history and feed',
    plant: class extends Sound {
      override async eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
        const feed = await super.eventsAfter(cursor, limit);
        return { ...feed, events: feed.events.map((event) => ({ ...event, def: feed.events[0]!.def })) };
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
          this.#untrue.push({ job: after.id, kind: after.kind, type: after.type, def: after.def, parent: after.parent, event });
        });
        return written;
      }
      override async eventsAfter(cursor: string | null, limit: number): Promise<FeedPage> {
        const feed = await super.eventsAfter(cursor, limit);
        return { ...feed, events: [...feed.events, ...this.#untrue.splice(0)] };
      }
    },
  },
];
