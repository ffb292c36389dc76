/** Tokens: 256 bits that a caller shows; here only their hashes are kept, with a name, a role and an end. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { systemRandom, type Random } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import { parseInstant } from '../../time/instant.ts';
import { roles, type Role } from '../contract.ts';

export interface TokenRecord {
  readonly name: string;
  readonly role: Role;
  /** The part of the token that may be shown, to find it again. */
  readonly prefix: string;
  /** SHA-256, in hexadecimal: a token has so much chance in it that no slower hash is needed. */
  readonly hash: string;
  /** Milliseconds since 1970; null: it is not known. */
  readonly created: number | null;
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null;
  /** Whether its holder sees payloads as they are; unless said, operators and admins do. */
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

/** The token is shown once, here; only the record is to be kept. */
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

/** JSON `[{ name, role, hash | token, created?, expires?, seesPayloads? }]`, or the path of a file that holds it; blank: none. */
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
    if (hash === undefined) throw wrong(`${rest.name} has neither a hash nor a token`);
    return { ...request, prefix, hash, seesPayloads: rest.seesPayloads ?? isTrusted(rest.role) };
  });
}

const momentOf = (moment: z.infer<typeof Moment>): number | null =>
  (typeof moment === 'string' ? parseInstant(moment) : moment);

/** Whose token it is; null also for one that is over. All are compared, so that time tells nothing. */
export function holderOf(records: readonly TokenRecord[], token: string, now: number): TokenRecord | null {
  const shown = Buffer.from(hashOf(token), 'hex');
  const found = records.filter(({ hash }) => timingSafeEqual(Buffer.from(hash, 'hex'), shown));
  return found.find(({ expires }) => expires === null || expires > now) ?? null;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

function recordOf(
  { name, role, created = null, expires = null, seesPayloads = isTrusted(role) }: TokenRequest,
  token: string,
): TokenRecord {
  return { name, role, prefix: token.slice(0, prefixLength), hash: hashOf(token), created, expires, seesPayloads };
}

/** Whose work it is to look at payloads. */
export const isTrusted = (role: Role): boolean => role === 'operator' || role === 'admin';

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('it is not JSON');
  }
}

const wrong = (why: string): Refusal => new Refusal('malformed.option', `cannot read the tokens: ${why}`);
