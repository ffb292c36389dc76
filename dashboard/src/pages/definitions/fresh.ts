/** Asks again when the definition has changed, and shows what is known meanwhile. */
import { useEffect, useRef } from 'preact/hooks';
import type { Held } from '../../state/answer.ts';

export function useFresh<T>(answer: Held<T>, version: number): Held<T> {
  const seen = useRef(version);
  useEffect(() => {
    if (seen.current !== version) answer.reload();
    seen.current = version;
  }, [version]);
  return answer;
}
