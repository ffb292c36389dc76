/**
 * Reloads a resource when the version of its definition changes. The old data stays visible until the new data arrives.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { Resource } from '../../state/resource.ts';

export function useReloadOnVersion<T>(resource: Resource<T>, version: number): Resource<T> {
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current !== version) resource.reload();
    seen.current = version;
  }, [version]);
  return resource;
}
