/** An answer of the server as a page holds it: what is known, whether more is on its way, and what went wrong. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Held<T> {
  /** The newest that is known; stays while it is asked for again. */
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Asks again; many calls in a short time are one. */
  readonly reload: () => void;
  /** Puts in what is known from elsewhere. */
  readonly put: (data: T) => void;
}

const reloadMs = 400;
const reloadMaxMs = 30_000;
/** What is costly to answer is asked for less often: so many times as long as it took, the server has rest. */
const restTimes = 5;

/** Asks whenever `deps` change. What is asked for must follow from them alone. */
export function useAnswer<T>(ask: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Held<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; isLoading: boolean }>(start);
  const asking = useRef<AbortController | null>(null);
  const later = useRef<ReturnType<typeof setTimeout> | null>(null);
  const cost = useRef(0);
  const latest = useRef(ask);
  latest.current = ask;

  const load = useCallback(async () => {
    asking.current?.abort();
    const mine = new AbortController();
    asking.current = mine;
    const begun = performance.now();
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await latest.current(mine.signal);
      if (!mine.signal.aborted) setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (!mine.signal.aborted) setState(({ data }) => ({ data, error, isLoading: false }));
    } finally {
      if (asking.current === mine) asking.current = null;
      cost.current = performance.now() - begun;
    }
  }, []);

  const reload = useCallback(() => {
    later.current ??= setTimeout(() => {
      later.current = null;
      // An answer that is slow in coming is waited for, or under steady changes none would ever arrive.
      if (asking.current === null) void load();
      else reload();
    }, Math.min(reloadMaxMs, Math.max(reloadMs, cost.current * restTimes)));
  }, []);

  useEffect(() => {
    setState(start);
    void load();
    return () => {
      asking.current?.abort();
      if (later.current !== null) clearTimeout(later.current);
      later.current = null;
    };
  }, deps);

  const put = useCallback((data: T) => setState({ data, error: null, isLoading: false }), []);
  return { ...state, reload, put };
}

const start = { data: null, error: null, isLoading: true };
