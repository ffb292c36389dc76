/** Output: segments are written once, only under the current fence, and read behind any position in their order. */
import { deepEqual, equal } from 'node:assert/strict';
import { outputStart, type NewOutputSegment } from '../model/output.ts';
import { writeAsFormerHolder } from './former-holder.ts';
import { hugePayload, oddPayloads } from './odd-texts.ts';
import { same } from './same.ts';
import type { Topic } from './world.ts';

const segment = (upto: number, bytes = upto, text = `[${upto}]`): NewOutputSegment => ({ upto, bytes, text });

export const output: Topic = {
  name: 'output',
  examples: {
    'a job has no output before the first segment': async (world) => {
      const job = await world.createRunning();
      deepEqual(await world.store.output(job.id, outputStart, 10), []);
      deepEqual(await world.store.output(999_999, outputStart, 10), []);
      equal(await world.store.outputBytes(job.id), 0);
    },

    'segments are stored unchanged, and their sizes with them': async (world) => {
      const { id, fence } = await world.createRunning();
      const segments = [...oddPayloads, hugePayload].map((text, at) => segment(at + 1, (at + 1) * 1000, text));
      deepEqual(await world.store.writeNotes([{ id, fence, output: segments }]), [true]);
      same(await world.store.output(id, outputStart, 1000), segments.map((each) => ({ ...each, fence })));
      equal(await world.store.outputBytes(id), segments.length * 1000);
    },

    'output is read behind a position, also one inside a segment, and up to a limit': async (world) => {
      const { id, fence } = await world.createRunning();
      await world.store.writeNotes([{ id, fence, output: [10, 20, 30].map((upto) => segment(upto)) }]);
      const read = async (n: number, limit = 10): Promise<number[]> =>
        (await world.store.output(id, { fence, n }, limit)).map(({ upto }) => upto);
      deepEqual(await read(0), [10, 20, 30]);
      deepEqual(await read(10), [20, 30]);
      deepEqual(await read(15), [20, 30]);
      deepEqual(await read(0, 2), [10, 20]);
      deepEqual(await read(30), []);
    },

    'a segment that is written again is stored once, as it was': async (world) => {
      const { id, fence } = await world.createRunning();
      const write = (...output: NewOutputSegment[]): Promise<unknown> => world.store.writeNotes([{ id, fence, output }]);
      await write(segment(1));
      await write(segment(1), segment(2));
      await write(segment(2));
      same(await world.store.output(id, outputStart, 10), [1, 2].map((upto) => ({ ...segment(upto), fence })));
    },

    'a former holder of a job cannot write output': async (world) => {
      const id = await writeAsFormerHolder(world, { output: [segment(1)] });
      deepEqual(await world.store.output(id, outputStart, 10), []);
    },

    'the output of a later claim comes behind that of earlier ones, whatever its numbers': async (world) => {
      const job = await world.createRunning();
      await world.store.writeNotes([{ id: job.id, fence: job.fence, output: [segment(7, 70)] }]);
      await world.apply(job, { do: 'release', fence: job.fence });
      const [again] = await world.claim();
      await world.store.writeNotes([{ id: job.id, fence: again!.fence, output: [segment(2, 90)] }]);
      const read = async (fence: number, n: number): Promise<number[][]> =>
        (await world.store.output(job.id, { fence, n }, 10)).map((each) => [each.fence, each.upto]);
      deepEqual(await read(0, 0), [[job.fence, 7], [again!.fence, 2]]);
      deepEqual(await read(job.fence, 7), [[again!.fence, 2]]);
      equal(await world.store.outputBytes(job.id), 90);
    },

    'output belongs to its job, and is deleted with it': async (world) => {
      const [job, other] = [await world.createRunning(), await world.createRunning()];
      const notes = [job, other].map(({ id, fence }) => ({ id, fence, output: [segment(1)] }));
      deepEqual(await world.store.writeNotes(notes), [true, true]);
      const ended = await world.apply(job, { do: 'succeed', fence: job.fence });
      equal((await world.store.output(ended.id, outputStart, 10)).length, 1);
      await world.advance(1000);
      equal(await world.store.purge({ limit: 10, feedKeptMs: 1e9, retentionMs: 1000 }), 1);
      deepEqual(await world.store.output(job.id, outputStart, 10), []);
      equal((await world.store.output(other.id, outputStart, 10)).length, 1);
    },
  },
};
