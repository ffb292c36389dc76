/**
 * Access tokens. Stint makes them from 256 random bits. A record has the hash instead of the token, with a name, a role
 * and an expiry.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { systemRandom, type Random } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import { parseInstant } from '../../time/instant.ts';
import { roles, type Role } from '../contract.ts';
import { hasExpired } from './principal.ts';

export interface TokenRecord {
  readonly name: string;
  readonly role: Role;
  /** The first characters of the token, shown in lists to identify it. */
  readonly prefix: string;
  /** SHA-256 in hexadecimal. A generated token has 256 bits of entropy, so no slower hash is needed. */
  readonly hash: string;
  /** When the token was created, in milliseconds since 1970; null: unknown. */
  readonly created: number | null;
  /** When the token expires, in milliseconds since 1970; null: never. */
  readonly expires: number | null;
  /** Whether a caller with this token sees payloads unredacted. Default: true for operators and admins. */
  readonly seesPayloads: boolean;
}

export interface TokenRequest {
  readonly name: string;
  readonly role: Role;
  readonly created?: number | null | undefined;
  readonly expires?: number | null | undefined;
  readonly seesPayloads?: boolean | undefined;
}

const prefixLength = 14;
const plainMin = 32;

/** Creates a token. Show the token to its owner once, and store only the record. */
export function newToken(
  request: TokenRequest,
  random: Random = systemRandom,
): { readonly token: string; readonly record: TokenRecord } {
  const token = `stint_${random.hex(4)}_${random.hex(32)}`;
  return { token, record: recordOf(request, token) };
}

const Moment = z.union([z.number(), z.string()]).nullable().default(null);

const Entry = z.strictObject({
  name: z.string().min(1).max(100).regex(/^[\w.@-]+$/),
  role: z.enum(roles),
  token: z.string().min(plainMin).max(500).optional(),
  prefix: z.string().max(prefixLength).optional(),
  hash: z.string().regex(/^[0-9a-f]{64}$/).optional(),
  created: Moment,
  expires: Moment,
  seesPayloads: z.boolean().optional(),
});

/**
 * Reads tokens from JSON `[{ name, role, hash | token, created?, expires?, seesPayloads? }]`. `source` is this JSON or
 * the path of a file with this JSON. If `source` is blank, there are no tokens.
 */
export function readTokens(source: string): readonly TokenRecord[] {
  if (source.trim() === '') return [];
  const text = source.trimStart().startsWith('[') ? source : readFileSync(source, 'utf8');
  const entries = z.array(Entry).safeParse(jsonOf(text));
  if (!entries.success) {
    const [issue] = entries.error.issues;
    throw wrong(`${issue!.path.join('.')}: ${issue!.message}`);
  }
  return entries.data.map(({ token, hash, prefix = '', ...rest }) => {
    const request = { ...rest, created: momentOf(rest.created), expires: momentOf(rest.expires) };
    if (token !== undefined) return recordOf(request, token);
    if (hash === undefined) throw wrong(`${rest.name} has neither hash nor token`);
    return { ...request, prefix, hash, seesPayloads: rest.seesPayloads ?? isTrusted(rest.role) };
  });
}

const momentOf = (moment: z.infer<typeof Moment>): number | null =>
  (typeof moment === 'string' ? parseInstant(moment) : moment);

/**
 * Returns the record of a token; null: the token is unknown or expired. Compares with every record, so that the time
 * taken does not reveal which one matches.
 */
export function holderOf(records: readonly TokenRecord[], token: string, now: number): TokenRecord | null {
  const shown = Buffer.from(hashOf(token), 'hex');
  const found = records.filter(({ hash }) => timingSafeEqual(Buffer.from(hash, 'hex'), shown));
  return found.find((record) => !hasExpired(record, now)) ?? null;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

function recordOf(
  { name, role, created = null, expires = null, seesPayloads = isTrusted(role) }: TokenRequest,
  token: string,
): TokenRecord {
  return { name, role, prefix: token.slice(0, prefixLength), hash: hashOf(token), created, expires, seesPayloads };
}

/** Whether tokens of the role see payloads by default. */
export const isTrusted = (role: Role): boolean => role === 'operator' || role === 'admin';

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('invalid JSON');
  }
}

const wrong = (why: string): Refusal => new Refusal('malformed.option', `cannot read the tokens: ${why}`);
