/** Pauses in force of job types and of keys of types. */
import type { Changed, PauseView } from '../../../src/http/contract.ts';
import { call } from '../api.ts';
import { now } from './clock.ts';
import { useResource } from './resource.ts';

export interface Pauses {
  readonly all: readonly PauseView[];
  /** The pauses of a type: that of the whole type first, then those of its keys. */
  readonly of: (type: string) => readonly PauseView[];
  readonly reload: () => void;
  /** Reloads if a pause is among the changes. The page must subscribe to the kind `pause`. */
  readonly apply: (changes: readonly Changed[] | null) => void;
}

export function usePauses(): Pauses {
  const { data, reload } = useResource((abort) => call('listPauses', {}, abort), []);
  const all = (data?.items ?? []).filter(isInForce);
  const byType = Map.groupBy(all, ({ type }) => type);
  return {
    all,
    of: (type) => byType.get(type) ?? [],
    reload,
    apply(changes) {
      if (changes === null || changes.some(({ kind }) => kind === 'pause')) reload();
    },
  };
}

/** Whether the pause has not ended by itself since it was loaded; no event announces that. */
export const isInForce = ({ until }: PauseView): boolean => until === null || until > now.value;

export const isOfType = ({ key }: PauseView): boolean => key === null;

/** What is paused, within a sentence. */
export const targetText = (type: string, key: string | null): string => (key === null ? type : `the key ${key} of ${type}`);
