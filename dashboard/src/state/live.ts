/**
 * Live updates: changes on the server, delivered in batches to the open page. One stream at a time, because a browser
 * allows six connections per host over HTTP/1.1; none while updates are paused or the tab is hidden. While the stream
 * is down, the page reloads every few seconds.
 */
import { batch, effect, signal, untracked } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Changed } from '../../../src/http/contract.ts';
import { urlOf } from '../api.ts';

export type Connection = 'live' | 'connecting' | 'polling' | 'paused' | 'hidden';

/** Which changes a page subscribes to. */
export interface ChangeFilter {
  /** A run and its tasks. */
  readonly run?: number;
  readonly kind?: readonly Changed['kind'][];
}

/** Gets the changes since the last call; null: some were missed, so anything may have changed. */
export type ChangeListener = (changes: readonly Changed[] | null) => void;

export const isLive = signal(true);
export const connection = signal<Connection>('connecting');

export const isHidden = signal(document.hidden);
document.addEventListener('visibilitychange', () => (isHidden.value = document.hidden));

interface Subscription {
  readonly filter: ChangeFilter;
  readonly notify: ChangeListener;
}

const subscription = signal<Subscription | null>(null);
const flushMs = 250;
const pollMs = 5_000;

effect(() => {
  const current = subscription.value;
  const [isOn, isAway] = [isLive.value, isHidden.value];
  if (isOn && !isAway && current !== null) return untracked(() => connect(current));
  connection.value = isAway && isOn ? 'hidden' : isOn ? 'connecting' : 'paused';
  return undefined;
});

/** Subscribes while the component is mounted. A page calls it once; the filter may change. */
export function useChanges(filter: ChangeFilter, listener: ChangeListener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const key = JSON.stringify(filter);
  useEffect(() => {
    const own: Subscription = { filter, notify: (changes) => latest.current(changes) };
    subscription.value = own;
    return () => {
      if (subscription.peek() === own) subscription.value = null;
    };
  }, [key]);
}

/** Reloads at an interval, for ages and heartbeats: neither is announced by the stream. */
export function useInterval(reload: () => void, ms: number, deps: readonly unknown[] = []): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (isLive.peek() && !isHidden.peek()) reload();
    }, ms);
    return () => clearInterval(timer);
  }, deps);
}

/** Opens the stream; returns the function that closes it. */
function connect({ filter, notify }: Subscription): () => void {
  connection.value = 'connecting';
  const source = new EventSource(urlOf('/api/v1/stream', { query: { ...filter } }));
  let received: Changed[] = [];
  let wasOpen = false;
  const flush = setInterval(() => {
    if (received.length === 0) return;
    const changes = received;
    received = [];
    batch(() => notify(changes));
  }, flushMs);
  const poll = setInterval(() => {
    if (connection.peek() === 'polling') notify(null);
  }, pollMs);
  source.addEventListener('open', () => {
    connection.value = 'live';
    // Changes between the page's first request and the opening of the stream are not in the stream.
    if (!wasOpen) notify(null);
    wasOpen = true;
  });
  source.addEventListener('change', ({ data }: MessageEvent<string>) => received.push(JSON.parse(data) as Changed));
  source.addEventListener('dropped', () => notify(null));
  source.addEventListener('error', () => (connection.value = 'polling'));
  return () => {
    source.close();
    clearInterval(flush);
    clearInterval(poll);
  };
}
