/** Reads the edges of several runs, one run after another, so that no more edges than the limit are read. */
import type { Edge } from '../model/following.ts';
import { otherEnd, type EdgeQuery, type ManyEdgesQuery } from './store.ts';

export function edgesOfEach(query: ManyEdgesQuery, find: (query: EdgeQuery) => readonly Edge[]): Edge[] {
  const { end, ids, after, limit } = query;
  const first = after?.[end] ?? 0;
  const found: Edge[] = [];
  for (const id of ids) {
    if (id < first) continue;
    if (found.length === limit) break;
    const from = id === first && after !== undefined ? { after: after[otherEnd(end)] } : {};
    found.push(...find({ ...(end === 'follower' ? { follower: id } : { followed: id }), ...from, limit: limit - found.length }));
  }
  return found;
}
