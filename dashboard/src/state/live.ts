/**
 * Live updates: changes on the server, delivered in batches to the open page. Only one stream is open, because a
 * browser allows six connections per host over HTTP/1.1. It is closed while updates are paused or the tab is hidden. If
 * the connection fails, the page reloads every few seconds.
 */
import { batch, effect, signal, untracked } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Changed } from '../../../src/http/contract.ts';
import { urlOf } from '../api.ts';

export type Connection = 'live' | 'connecting' | 'polling' | 'paused' | 'hidden';

/** The changes that a page subscribes to. */
export interface ChangeFilter {
  /** Only changes of this run and its tasks. */
  readonly run?: number;
  readonly kind?: readonly Changed['kind'][];
}

/** Receives the changes since the last call; null: some were missed, so the page must reload everything. */
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

/**
 * Subscribes to changes while the component is mounted. Only one component of a page may call this; the filter may
 * change.
 */
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

/** Reloads at an interval, for data such as ages and heartbeats whose changes the stream does not contain. */
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
    // The stream does not contain changes between the page's first request and the opening of the stream, so the page
    // reloads.
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
