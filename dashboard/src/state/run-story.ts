/** The story of one run: its record, progress, log and history, read once and then followed while it is open. */
import { useEffect, useState } from 'preact/hooks';
import type { Answer, EventView, LogLine, ProgressView, RunDetail, RunView } from '../../../src/http/contract.ts';
import { addressOf, call } from '../api.ts';
import { isHidden, isLive } from './live.ts';

export interface Story {
  readonly run: RunDetail;
  readonly progress: ProgressView | null;
  readonly events: readonly EventView[];
  readonly log: readonly LogLine[];
}

export interface Told {
  readonly story: Story | null;
  readonly error: unknown;
  readonly reload: () => void;
}

const logPagesMax = 10;

export function useStory(id: number): Told {
  const [story, setStory] = useState<Story | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const reload = (): void => setRound((before) => before + 1);
  const isEnded = story?.run.state === 'ended';

  useEffect(() => {
    const mine = new AbortController();
    readStory(id, mine.signal).then(
      (told) => {
        setStory(told);
        setError(null);
      },
      (reason: unknown) => {
        if (!mine.signal.aborted) setError(reason);
      },
    );
    return () => mine.abort();
  }, [id, round]);

  const isFollowing = story !== null && !isEnded && isLive.value && !isHidden.value;
  useEffect(() => {
    if (!isFollowing) return undefined;
    const source = new EventSource(addressOf('/api/v1/runs/{id}/stream', { params: { id } }));
    const on = <T>(name: string, apply: (before: Story, data: T) => Story): void =>
      source.addEventListener(name, ({ data }: MessageEvent<string>) =>
        setStory((before) => before && apply(before, JSON.parse(data) as T)));
    on<RunView>('run', (before, run) => ({ ...before, run: { ...before.run, ...run, error: before.run.error } }));
    on<{ progress: ProgressView | null }>('progress', (before, { progress }) => ({ ...before, progress }));
    on<EventView>('event', (before, event) => ({ ...before, events: joined(before.events, [event]) }));
    on<{ lines: readonly LogLine[] }>('log', (before, { lines }) => ({ ...before, log: joined(before.log, lines) }));
    source.addEventListener('end', () => {
      source.close();
      // Its result and its attempts are told only by the whole record.
      reload();
    });
    return () => source.close();
  }, [id, isFollowing]);

  return { story, error, reload };
}

async function readStory(id: number, signal: AbortSignal): Promise<Story> {
  const params = { id };
  const [run, { progress }, { items: events }, log] = await Promise.all([
    call('getRun', { params }, signal),
    call('getProgress', { params }, signal),
    call('listEvents', { params, query: { limit: 1000 } }, signal),
    readLog(id, signal),
  ]);
  return { run, progress, events, log };
}

async function readLog(id: number, signal: AbortSignal): Promise<LogLine[]> {
  const lines: LogLine[] = [];
  for (let after: number | null = 0, pages = 0; after !== null && pages < logPagesMax; pages++) {
    const page: Answer<'getLog'> = await call('getLog', { params: { id }, query: { after } }, signal);
    lines.push(...page.items);
    after = page.next;
  }
  return lines;
}

/** Each number once. */
function joined<T extends { readonly n: number }>(before: readonly T[], more: readonly T[]): readonly T[] {
  const last = before.at(-1)?.n ?? 0;
  const fresh = more.filter(({ n }) => n > last);
  return fresh.length === 0 ? before : [...before, ...fresh];
}
