/** The output of a run: its chunks, without those that later attempts replaced. New chunks arrive by a stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OutputChunkView, RunDetail } from '../../../src/http/contract.ts';
import { urlOf } from '../api.ts';
import { isHidden, isLive } from './live.ts';

export interface RunOutput {
  readonly chunks: readonly OutputChunkView[];
  /** The fence of the run when the stream had sent all chunks of it, and it had ended; null: not yet. */
  readonly completeAt: number | null;
  /** Whether older chunks were dropped, because there are too many to show. */
  readonly isCut: boolean;
}

const keptMax = 20_000;
const empty: RunOutput = { chunks: [], completeAt: null, isCut: false };

export function useRunOutput({ id, state, fence }: Pick<RunDetail, 'id' | 'state' | 'fence'>): RunOutput {
  const [output, setOutput] = useState(empty);
  const position = useRef<string | undefined>(undefined);
  const isEnded = state === 'ended';
  const isFollowing = isEnded || (isLive.value && !isHidden.value);

  useEffect(() => {
    position.current = undefined;
    setOutput(empty);
  }, [id]);

  useEffect(() => {
    // A run that is retried has a higher fence, and writes more.
    if (!isFollowing || output.completeAt === fence && isEnded) return undefined;
    return follow({ id, fence }, position, setOutput);
  }, [id, isFollowing, isEnded, fence]);

  return output;
}

type Change = (change: (before: RunOutput) => RunOutput) => void;

/** Opens the stream behind the last position; returns the function that closes it. Chunks are added once per frame. */
function follow(
  { id, fence }: Pick<RunDetail, 'id' | 'fence'>,
  position: { current: string | undefined },
  change: Change,
): () => void {
  const after = position.current;
  const source = new EventSource(urlOf('/api/v1/runs/{id}/output/stream', { params: { id }, query: { after } }));
  let arrived: OutputChunkView[] = [];
  let frame: number | null = null;
  const add = (): void => {
    const chunks = arrived;
    [arrived, frame] = [[], null];
    change((before) => added(before, chunks));
  };
  source.addEventListener('chunk', ({ data }: MessageEvent<string>) => {
    const chunk = JSON.parse(data) as OutputChunkView;
    position.current = chunk.position;
    arrived.push(chunk);
    frame ??= requestAnimationFrame(add);
  });
  source.addEventListener('end', () => {
    source.close();
    change((before) => ({ ...before, completeAt: fence }));
  });
  return () => {
    source.close();
    if (frame !== null) cancelAnimationFrame(frame);
    if (arrived.length > 0) add();
  };
}

function added({ chunks, isCut, completeAt }: RunOutput, more: readonly OutputChunkView[]): RunOutput {
  const all = [...chunks, ...more];
  const firsts = new Map<string | null, number>();
  all.forEach(({ step, isFirst }, at) => void (isFirst && firsts.set(step, at)));
  const current = all.filter(({ step }, at) => at >= (firsts.get(step) ?? 0));
  return { chunks: current.slice(-keptMax), isCut: isCut || current.length > keptMax, completeAt };
}
