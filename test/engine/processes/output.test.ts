// A writer in a process of its own is killed in mid-stream; a reader in another continues again and again.
import { describe, expect, test } from 'vitest';
import { currentOutput, type OutputChunk, type RunHandle } from '../../../src/index.ts';
import { chunksOfSecond, streaming } from './children/streaming.ts';
import { storeKindsOfSize, World } from './world.ts';

/** After how many chunks the reader breaks off, to continue at its position. */
const patience = 17;

/** Reads the output in many short readings, until one of them has seen the end. */
async function readInPieces(run: RunHandle<unknown>, onChunk: (count: number) => void): Promise<readonly OutputChunk[]> {
  const got: OutputChunk[] = [];
  for (let isOver = false; !isOver; ) {
    const last = got.at(-1)?.position;
    let read = 0;
    isOver = true;
    for await (const chunk of run.followOutput(last === undefined ? {} : { after: last })) {
      got.push(chunk);
      onChunk(got.length);
      if ((read += 1) < patience) continue;
      isOver = false;
      break;
    }
  }
  return got;
}

async function stored(run: RunHandle<unknown>): Promise<readonly OutputChunk[]> {
  const all: OutputChunk[] = [];
  for (;;) {
    const last = all.at(-1)?.position;
    const page = await run.output(last === undefined ? {} : { after: last });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

describe.each(storeKindsOfSize)('on $name', (kind) => {
  test('a reader gets every chunk of a killed writer and of its successor once, in order', async () => {
    await using world = await World.create(kind);
    const writer = await world.start('streaming', 'ann');
    const run = await world.engine.createJobRun(streaming);
    const kills: Promise<unknown>[] = [];
    const got = await readInPieces(run, (count) => {
      if (count === 101) kills.push(writer.end('SIGKILL').then(() => world.start('streaming', 'bob')));
    });
    await Promise.all(kills);

    expect(await run.result()).toBe('written');
    expect(got.map(({ position }) => position)).toEqual((await stored(run)).map(({ position }) => position));
    const [first, second] = [1, 2].map((fence) => got.filter((chunk) => chunk.fence === fence));
    const numbersOf = (chunks: readonly OutputChunk[]) => chunks.map(({ value }) => (value as { n: number }).n);
    expect(numbersOf(first!)).toEqual(first!.map((_, at) => at));
    expect(first!.length).toBeGreaterThan(100);
    expect(numbersOf(second!)).toEqual(Array.from({ length: chunksOfSecond }, (_, at) => at));
    expect(currentOutput(got)).toEqual(second);
  });
});
