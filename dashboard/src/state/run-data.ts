/**
 * The data of one run: record, progress, log and events. It is read once, then updated from the run's stream while the
 * run is open.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Answer, EventView, LogLineView, ProgressView, RunDetail, RunView } from '../../../src/http/contract.ts';
import { call, urlOf } from '../api.ts';
import { isHidden, isLive } from './live.ts';

export interface RunData {
  readonly run: RunDetail;
  readonly progress: ProgressView | null;
  readonly events: readonly EventView[];
  readonly log: readonly LogLineView[];
}

export interface LoadedRun {
  readonly data: RunData | null;
  readonly error: unknown;
  readonly reload: () => void;
}

type Update = (change: (before: RunData) => RunData) => void;

const logPagesMax = 10;

export function useRunData(id: number): LoadedRun {
  const [data, setData] = useState<RunData | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const reload = (): void => setRound((before) => before + 1);

  useEffect(() => {
    const request = new AbortController();
    readRunData(id, request.signal).then(
      (read) => {
        setData(read);
        setError(null);
      },
      (reason: unknown) => {
        if (!request.signal.aborted) setError(reason);
      },
    );
    return () => request.abort();
  }, [id, round]);

  const isFollowing = data !== null && data.run.state !== 'ended' && isLive.value && !isHidden.value;
  useEffect(() => {
    if (!isFollowing) return undefined;
    const update: Update = (change) => setData((before) => before && change(before));
    return followRun(id, update, reload);
  }, [id, isFollowing]);

  return { data, error, reload };
}

/** Opens the stream of a run; returns the function that closes it. */
function followRun(id: number, update: Update, onEnd: () => void): () => void {
  const source = new EventSource(urlOf('/api/v1/runs/{id}/stream', { params: { id } }));
  const on = <T>(name: string, apply: (before: RunData, data: T) => RunData): void =>
    source.addEventListener(name, ({ data }: MessageEvent<string>) =>
      update((before) => apply(before, JSON.parse(data) as T)));
  on<RunView>('run', (before, run) => ({ ...before, run: { ...before.run, ...run, error: before.run.error } }));
  on<{ progress: ProgressView | null }>('progress', (before, { progress }) => ({ ...before, progress }));
  on<EventView>('event', (before, event) => ({ ...before, events: joined(before.events, [event]) }));
  on<{ lines: readonly LogLineView[] }>('log', (before, { lines }) => ({ ...before, log: joined(before.log, lines) }));
  source.addEventListener('end', () => {
    source.close();
    // Reads the run again, because the stream contains neither its result nor its attempts.
    onEnd();
  });
  return () => source.close();
}

async function readRunData(id: number, signal: AbortSignal): Promise<RunData> {
  const params = { id };
  const [run, { progress }, { items: events }, log] = await Promise.all([
    call('getRun', { params }, signal),
    call('getProgress', { params }, signal),
    call('listEvents', { params, query: { limit: 1000 } }, signal),
    readLog(id, signal),
  ]);
  return { run, progress, events, log };
}

async function readLog(id: number, signal: AbortSignal): Promise<LogLineView[]> {
  const lines: LogLineView[] = [];
  for (let after: number | null = 0, pages = 0; after !== null && pages < logPagesMax; pages++) {
    const page: Answer<'getLog'> = await call('getLog', { params: { id }, query: { after } }, signal);
    lines.push(...page.items);
    after = page.next;
  }
  return lines;
}

/** Appends the entries whose number is higher than the last. The stream can repeat entries that were already read. */
function joined<T extends { readonly n: number }>(before: readonly T[], more: readonly T[]): readonly T[] {
  const last = before.at(-1)?.n ?? 0;
  const fresh = more.filter(({ n }) => n > last);
  return fresh.length === 0 ? before : [...before, ...fresh];
}
