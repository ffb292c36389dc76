// Bugs in claiming: claims, gates, leases, instances and leadership.
import type { Change } from '../../../src/model/change.ts';
import { isOpen, type Job } from '../../../src/model/job.ts';
import type { Batch, Beat, ClaimRequest, ClaimDecision, Holding, Leadership, Store } from '../../../src/store/store.ts';
import { Sound, type Bug } from './bug.ts';

const longMs = 1_000_000_000;

export const claimBugs: readonly Bug[] = [
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
