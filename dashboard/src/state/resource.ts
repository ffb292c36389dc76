/** A resource: data that a page loads from the server and reloads when it has changed. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Resource<T> {
  /** The newest response. It stays while a newer one is loaded. */
  readonly data: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads again. Calls within 400 ms are merged into one request. */
  readonly reload: () => void;
}

const reloadMs = 400;
const reloadMaxMs = 30_000;
/**
 * Before a reload, the page waits this many times as long as the last response took, so that slow requests are sent
 * less often.
 */
const restTimes = 5;

/** Loads whenever `deps` change. The request must not depend on anything else. */
export function useResource<T>(load: (signal: AbortSignal) => Promise<T>, deps: readonly unknown[]): Resource<T> {
  const [state, setState] = useState<{ data: T | null; error: unknown; isLoading: boolean }>(initial);
  const request = useRef<AbortController | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const lastMs = useRef(0);
  const latest = useRef(load);
  latest.current = load;

  const loadNow = useCallback(async () => {
    request.current?.abort();
    const own = new AbortController();
    request.current = own;
    const startedAt = performance.now();
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await latest.current(own.signal);
      if (!own.signal.aborted) setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (!own.signal.aborted) setState(({ data }) => ({ data, error, isLoading: false }));
    } finally {
      if (request.current === own) request.current = null;
      lastMs.current = performance.now() - startedAt;
    }
  }, []);

  const reload = useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = null;
      // Waits for the request under way: if every change aborted it, no response would ever arrive.
      if (request.current === null) void loadNow();
      else reload();
    }, Math.min(reloadMaxMs, Math.max(reloadMs, lastMs.current * restTimes)));
  }, []);

  useEffect(() => {
    setState(initial);
    void loadNow();
    return () => {
      request.current?.abort();
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, deps);

  return { ...state, reload };
}

const initial = { data: null, error: null, isLoading: true };
