/** Finds the gates of a key or of a named limit in SQL, which cannot parse their texts (model/gate.ts). */
import type { PauseScope } from '../model/pause.ts';

/**
 * Returns a text that the gates of the jobs in the scope contain. Gates of other scopes may contain it, too, for example of
 * a definition with the name of the key.
 */
export function gatePartOf(scope: Extract<PauseScope, { limit: string }> | { readonly type: string; readonly key: string }): string {
  if ('key' in scope) return `/${encodeURIComponent(scope.key)}/`;
  const use = JSON.stringify([scope.limit, null]);
  return encodeURIComponent(use.slice(0, use.lastIndexOf('null')));
}
