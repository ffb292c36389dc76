/** Notes: progress and log are written only under the current fence, and stored exactly as passed. */
import { deepEqual, equal } from 'node:assert/strict';
import type { LogLine, NewLogLine } from '../store/store.ts';
import { writeAsFormerHolder } from './former-holder.ts';
import { hugePayload, oddPayloads, oddTexts } from './odd-texts.ts';
import { same } from './same.ts';
import type { Topic } from './world.ts';

const line = (text: string, at = 5, level: LogLine['level'] = 'info'): NewLogLine => ({ at, level, text });

export const notes: Topic = {
  name: 'progress and log',
  examples: {
    'a job has no progress and no log before the first note': async (world) => {
      const job = await world.createRunning();
      equal(await world.store.progress(job.id), null);
      deepEqual(await world.store.log(job.id), []);
      equal(await world.store.progress(999_999), null);
      deepEqual(await world.store.log(999_999), []);
    },

    'progress is stored unchanged, and replaced by the next': async (world) => {
      const { id, fence } = await world.createRunning();
      for (const progress of [...oddPayloads, hugePayload]) {
        deepEqual(await world.store.writeNotes([{ id, fence, progress }]), [true]);
        equal(await world.store.progress(id), progress);
      }
      deepEqual(await world.store.writeNotes([{ id, fence, log: [] }]), [true]);
      equal(await world.store.progress(id), hugePayload, 'a note without progress leaves it as it is');
    },

    'log lines are numbered from 1 and stay in order': async (world) => {
      const { id, fence } = await world.createRunning();
      const lines = [line('a', 9, 'debug'), line('b', 3, 'warn'), line('c', 3, 'error'), line('d')];
      await world.store.writeNotes([{ id, fence, log: lines.slice(0, 3) }]);
      await world.store.writeNotes([{ id, fence, log: lines.slice(3) }]);
      same(await world.store.log(id), lines.map((each, index) => ({ ...each, n: index + 1, fence })));
    },

    'one call can write several notes about one job': async (world) => {
      const { id, fence } = await world.createRunning();
      const notes = [{ id, fence, progress: '1', log: [line('a'), line('b')] }, { id, fence, progress: '2', log: [line('c')] }];
      deepEqual(await world.store.writeNotes(notes), [true, true]);
      const lines = notes.flatMap(({ log }) => log);
      same(await world.store.log(id), lines.map((each, index) => ({ ...each, n: index + 1, fence })));
      equal(await world.store.progress(id), '2');
    },

    'a log can be read from any line on, and page by page': async (world) => {
      const { id, fence } = await world.createRunning();
      const lines = Array.from({ length: 1200 }, (_, index) => line(`line ${index + 1}`));
      await world.store.writeNotes([{ id, fence, log: lines }]);
      deepEqual((await world.store.log(id, 2, 2)).map(({ n, text }) => [n, text]), [[3, 'line 3'], [4, 'line 4']]);
      deepEqual(await world.store.log(id, 1200), []);
      equal((await world.store.log(id)).length, 1000);
      deepEqual((await world.store.log(id, 1000)).map(({ n }) => n), lines.slice(1000).map((_, index) => 1001 + index));
    },

    'odd texts are stored unchanged in log lines': async (world) => {
      const { id, fence } = await world.createRunning();
      const texts = [...oddTexts, 'nul \u0000 inside', '\u0001\u001f'];
      await world.store.writeNotes([{ id, fence, log: texts.map((text) => line(text)) }]);
      deepEqual((await world.store.log(id)).map(({ text }) => text), texts);
    },

    'a former holder of a job cannot write notes': async (world) => {
      const id = await writeAsFormerHolder(world, { progress: '{"old":1}', log: [line('old')] });
      equal(await world.store.progress(id), null);
      deepEqual(await world.store.log(id), []);
    },

    'several notes get an answer each, and those with the current fence are written': async (world) => {
      const [a, b] = [await world.createRunning(), await world.createRunning()];
      const progress = '1';
      const written = await world.store.writeNotes([
        { id: 999_999, fence: 1, progress }, { id: a.id, fence: a.fence, progress, log: [line('x')] },
        { id: b.id, fence: 7, progress }, { id: b.id, fence: b.fence, log: [line('y'), line('z')] },
      ]);
      deepEqual(written, [false, true, false, true]);
      deepEqual([await world.store.progress(a.id), await world.store.progress(b.id)], ['1', null]);
      deepEqual((await world.store.log(b.id)).map(({ n, text }) => [n, text]), [[1, 'y'], [2, 'z']]);
      deepEqual(await world.store.writeNotes([]), []);
    },

    'two notes on one job in one call are written one after the other': async (world) => {
      const { id, fence } = await world.createRunning();
      const [first, second] = [{ progress: '1', log: [line('a')] }, { progress: '2', log: [line('b')] }];
      await world.store.writeNotes([{ id, fence, ...first }, { id, fence, ...second }]);
      equal(await world.store.progress(id), '2');
      deepEqual((await world.store.log(id)).map(({ n, text }) => [n, text]), [[1, 'a'], [2, 'b']]);
    },

    'progress and log stay when the job ends and when it is reopened': async (world) => {
      const job = await world.createRunning();
      await world.store.writeNotes([{ id: job.id, fence: job.fence, progress: '1', log: [line('a')] }]);
      const ended = await world.apply(job, { do: 'succeed', fence: job.fence });
      equal(await world.store.progress(job.id), '1');
      await world.apply(ended, { do: 'retry', reopens: 0 });
      const [again] = await world.claim();
      await world.store.writeNotes([{ id: job.id, fence: again!.fence, log: [line('b')] }]);
      const lines = (await world.store.log(job.id)).map(({ n, text, fence }) => [n, text, fence]);
      deepEqual(lines, [[1, 'a', job.fence], [2, 'b', again!.fence]]);
      equal(await world.store.progress(job.id), '1');
    },

    'a note changes neither version nor history': async (world) => {
      const job = await world.createRunning();
      await world.store.writeNotes([{ id: job.id, fence: job.fence, progress: '1', log: [line('a')] }]);
      same(await world.load(job.id), job);
      equal((await world.store.history(job.id)).length, job.version);
    },
  },
};
