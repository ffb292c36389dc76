// Bugs in writing: commits, new jobs, unique keys, families, notes and retention.
import type { Change } from '../../../src/model/change.ts';
import type { Job } from '../../../src/model/job.ts';
import type { OutputPosition, OutputSegment } from '../../../src/model/output.ts';
import type { Batch, Note, Store } from '../../../src/store/store.ts';
import { Sound, type Bug } from './bug.ts';

const idOf = ({ before, after }: Change): number => (before ?? after)!.id;
const longMs = 1_000_000_000;

export const writeBugs: readonly Bug[] = [
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
    title: 'a reader of output gets the chunk of its position again',
    topic: 'output',
    plant: class extends Sound {
      override output(id: number, { fence, n }: OutputPosition, limit: number): Promise<readonly OutputSegment[]> {
        return super.output(id, { fence, n: n - 1 }, limit);
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
];
