/**
 * Live: what changes on the server, told in batches to the page that is open. One stream at a time, none while the
 * switch is off or nobody looks, since a browser has few connections to give. Where the stream cannot be had, the page
 * is told to look again every few seconds.
 */
import { batch, effect, signal, untracked } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Changed } from '../../../src/http/contract.ts';
import { addressOf } from '../api.ts';

export type Connection = 'live' | 'connecting' | 'polling' | 'paused' | 'hidden';

/** What a page wants to hear of. */
export interface Wish {
  /** A run and its tasks. */
  readonly run?: number;
  readonly kind?: readonly Changed['kind'][];
}

/** Changes since the last time; null: some were missed, so anything may have changed. */
export type Listener = (changes: readonly Changed[] | null) => void;

/** The switch. */
export const isLive = signal(true);
export const connection = signal<Connection>('connecting');

export const isHidden = signal(document.hidden);
document.addEventListener('visibilitychange', () => (isHidden.value = document.hidden));

interface Following {
  readonly wish: Wish;
  readonly tell: Listener;
}

const following = signal<Following | null>(null);
const tellMs = 250;
const pollMs = 5_000;

effect(() => {
  const follower = following.value;
  const [isOn, isAway] = [isLive.value, isHidden.value];
  if (isOn && !isAway && follower !== null) return untracked(() => connect(follower));
  connection.value = isAway && isOn ? 'hidden' : isOn ? 'connecting' : 'paused';
  return undefined;
});

/** Follows while the component is there. A page has one of these; the wish may change. */
export function useChanges(wish: Wish, listener: Listener): void {
  const latest = useRef(listener);
  latest.current = listener;
  const key = JSON.stringify(wish);
  useEffect(() => {
    const mine: Following = { wish, tell: (changes) => latest.current(changes) };
    following.value = mine;
    return () => {
      if (following.peek() === mine) following.value = null;
    };
  }, [key]);
}

/** Told again and again while it lasts; the answer ends it. */
function connect({ wish, tell }: Following): () => void {
  connection.value = 'connecting';
  const source = new EventSource(addressOf('/api/v1/stream', { query: { ...wish } }));
  let heard: Changed[] = [];
  let wasOpen = false;
  const flush = setInterval(() => {
    if (heard.length === 0) return;
    const told = heard;
    heard = [];
    batch(() => tell(told));
  }, tellMs);
  const poll = setInterval(() => {
    if (connection.peek() === 'polling') tell(null);
  }, pollMs);
  source.addEventListener('open', () => {
    connection.value = 'live';
    // What happened before the first word of this stream is not in it.
    if (!wasOpen) tell(null);
    wasOpen = true;
  });
  source.addEventListener('change', ({ data }: MessageEvent<string>) => heard.push(JSON.parse(data) as Changed));
  source.addEventListener('dropped', () => tell(null));
  source.addEventListener('error', () => (connection.value = 'polling'));
  return () => {
    source.close();
    clearInterval(flush);
    clearInterval(poll);
  };
}
