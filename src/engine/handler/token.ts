/**
 * The token with which another system finishes a job that was handed off to it: job, fence and 128 random bits. The
 * store has only a hash of it, as the holder of the job.
 */
import { createHash } from 'node:crypto';
import { tokenHolder } from '../../model/job.ts';
import type { Random } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import type { Holding } from '../../store/store.ts';

const secretBytes = 16;
const hashDigits = 32;

export const newToken = ({ id, fence }: Holding, random: Random): string => `${id}.${fence}.${random.hex(secretBytes)}`;

/**
 * Returns the job and fence of a token. Refuses any other text, also the tokens of early versions of Stint, because
 * they have no random bits.
 */
export function parseToken(token: string): Holding {
  const [, id, fence] = /^(\d{1,16})\.(\d{1,16})\.[0-9a-f]{32}$/.exec(token) ?? [];
  if (id === undefined || fence === undefined) throw new Refusal('malformed.id', 'this is not a token of handOff', {});
  return { id: Number(id), fence: Number(fence) };
}

/** The token of a link with which a question can be answered once: job and 128 random bits. */
export const newAnswerToken = (job: number, random: Random): string => `${job}.${random.hex(secretBytes)}`;

export function parseAnswerToken(token: string): number {
  const [, id] = /^(\d{1,16})\.[0-9a-f]{32}$/.exec(token) ?? [];
  if (id === undefined) throw new Refusal('malformed.id', 'this is not a token of a question', {});
  return Number(id);
}

/** The hash of an answer token; the store has only this. */
export const answerTokenHash = (token: string): string => createHash('sha256').update(token).digest('hex');

export const holderOfToken = (token: string): string =>
  tokenHolder(createHash('sha256').update(token).digest('hex').slice(0, hashDigits));
