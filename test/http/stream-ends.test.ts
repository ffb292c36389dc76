// The ends of streams: what was stored before the end of a run is sent before the end of its stream.
import { expect, test } from 'vitest';
import { outputChunks } from '../../src/http/events/output-stream.ts';
import { SharedReads } from '../../src/http/events/shared-reads.ts';
import { runChanges } from '../../src/http/events/stream.ts';
import type { HttpCall, HttpServices } from '../../src/http/handler.ts';
import { Jobs } from '../../src/jobs.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { turn, VirtualClock } from '../../src/time/clock.ts';
import { Door } from '../engine/api/kit.ts';

const call = { principal: { visibility: 'full', expires: null } } as unknown as HttpCall;
const { signal } = new AbortController();

/** A run whose reads of output and log return what was stored when they began, as soon as the door is open. */
async function endingRun() {
  const door = new Door();
  const clock = new VirtualClock(1_800_000_000_000);
  const jobs = new Jobs(new MemoryStore(clock));
  await jobs.createMany([{ type: 'test' }], 'tester');
  const [running] = await jobs.claim({ kinds: ['run'], names: { exact: ['test'] }, limit: 1, holder: 'one', leaseMs: 60_000 });
  const ended = await jobs.succeed(running!.id, running!.fence, { by: 'one' }, 'null');
  let isEnded = false;
  const job = () => (isEnded ? ended : running!);
  const stored = async <T>(item: T): Promise<T[]> => {
    const items = isEnded ? [item] : [];
    await door.pass();
    return items;
  };
  const output = async (_: number, { after }: { after?: string } = {}) =>
    (after === undefined ? stored({ position: '1.1', value: 'last' }) : []);
  const log = async (_: number, { after }: { after: number }) =>
    (after === 0 ? stored({ n: 1, at: 5, level: 'info', text: 'last', fence: 1 }) : []);
  const engine = {
    output, log,
    get: async () => job(),
    snapshot: async () => ({ job: job(), tasks: null, progress: null }),
    outputOrJob: async (id: number, request: object) => {
      const chunks = await output(id, request);
      return chunks.length === 0 ? job() : chunks;
    },
    history: async () => [],
  };
  const services = {
    clock,
    sharedReads: new SharedReads(engine as never),
    runTurns: { watch: async () => ({ wait: turn, end: () => {} }) },
  } as unknown as HttpServices;
  return { services, door, end: () => (isEnded = true) };
}

/** Begins a stream before the end of a run and one after it, which shares its read. Returns what the second one sends. */
async function sentAfter({ door, end }: Awaited<ReturnType<typeof endingRun>>, stream: () => AsyncGenerator<string>): Promise<string> {
  const [early, late] = [stream(), stream()];
  await early.next();
  const first = early.next();
  await turn();
  end();
  const sent = Array.fromAsync(late);
  await turn();
  door.open();
  await Promise.all([first, early.return(undefined)]);
  return (await sent).join('');
}

test('a stream of output shares the read of another one, and misses no chunk', async () => {
  const run = await endingRun();
  const stream = () => outputChunks(run.services, { id: 1, after: undefined }, call, signal);
  expect(await sentAfter(run, stream)).toMatch(/^retry[^]*event: chunk[^]*"last"[^]*event: end/);
});

test('a stream of a run shares the read of another one, and misses no log line', async () => {
  const run = await endingRun();
  const stream = () => runChanges(run.services, { id: 1, afterLine: 0 }, call, signal);
  expect(await sentAfter(run, stream)).toMatch(/^retry[^]*event: log[^]*"last"[^]*event: end/);
});
