/** The token with which another system finishes a job that was handed off to it. */
import { Refusal } from '../../refusal.ts';
import type { Holding } from '../../store/store.ts';

export const tokenOf = ({ id, fence }: Holding): string => `${id}.${fence}`;

export function parseToken(token: string): Holding {
  const [, id, fence] = /^(\d{1,16})\.(\d{1,16})$/.exec(token) ?? [];
  if (id === undefined || fence === undefined) throw new Refusal('malformed.id', 'this is not a token of handOff', {});
  return { id: Number(id), fence: Number(fence) };
}
