/**
 * Encryption of payloads: a codec with AES-256-GCM. Each payload has a key of its own, derived from the named key and
 * 16 random bytes (HMAC-SHA-256), and a random nonce. With one key for all payloads, NIST SP 800-38D allows 2^32
 * payloads under random nonces, which a busy store reaches within weeks. The additional data binds the text to its key
 * id, its job and its part of the job, so that a text copied to another job or column is refused.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { randomBytesOf } from '../../random.ts';
import { Refusal } from '../../refusal.ts';
import type { Codec, PayloadOwner } from './codec.ts';

export interface EncryptionKeys {
  /** The secrets by key id: 32 random bytes each, or their text in base64 or hexadecimal digits. */
  readonly keys: Readonly<Record<string, string | Uint8Array>>;
  /** The id of the key that encrypts; the others only decrypt. */
  readonly current: string;
}

const algorithm = 'aes-256-gcm';
const keyBytes = 32;
const saltBytes = 16;
const nonceBytes = 12;
const tagBytes = 16;
const idShape = /^[\w.-]{1,64}$/;
const textShape = /^aes-256-gcm:([\w.-]{1,64}):([\w-]+)$/;

/** Returns a codec that encrypts with the current key, and decrypts with the key that the text names. */
export function encrypt({ keys, current }: EncryptionKeys): Codec {
  const secrets = new Map(Object.entries(keys).map(([id, secret]) => [checkKeyId(id), secretOf(id, secret)]));
  const secret = secrets.get(current);
  if (secret === undefined) {
    throw new Refusal('malformed.option', `the current key ${checkKeyId(current)} is not among the keys`, { current });
  }
  return {
    encode: (payload, owner) => `${algorithm}:${current}:${sealed(payload, secret, aadOf(current, owner))}`,
    decode: (text, owner) => {
      const [, id = '', data = ''] = textShape.exec(text) ?? [];
      if (id === '') throw new Refusal('encoded.payload', `${nameOf(owner)} is not encrypted by Stint`, {});
      return opened(data, secrets.get(id) ?? missing(id, owner), aadOf(id, owner), () => wrongKey(id, owner));
    },
  };
}

function sealed(payload: string, secret: Buffer, aad: Buffer): string {
  const random = randomBytesOf(saltBytes + nonceBytes);
  const nonce = random.subarray(saltBytes);
  const cipher = createCipheriv(algorithm, derivedKey(secret, random.subarray(0, saltBytes)), nonce);
  cipher.setAAD(aad);
  const content = Buffer.concat([cipher.update(payload, 'utf8'), cipher.final()]);
  return Buffer.concat([random, cipher.getAuthTag(), content]).toString('base64url');
}

function opened(data: string, secret: Buffer, aad: Buffer, refusal: () => Refusal): string {
  const bytes = Buffer.from(data, 'base64url');
  // The last digit of base64 may have bits that no byte has: only the text that was written is accepted.
  if (bytes.length < saltBytes + nonceBytes + tagBytes || bytes.toString('base64url') !== data) throw refusal();
  const [salt, nonce, tag, content] = split(bytes, [saltBytes, nonceBytes, tagBytes]);
  const decipher = createDecipheriv(algorithm, derivedKey(secret, salt!), nonce!);
  decipher.setAAD(aad);
  decipher.setAuthTag(tag!);
  try {
    return Buffer.concat([decipher.update(content!), decipher.final()]).toString('utf8');
  } catch {
    throw refusal();
  }
}

const derivedKey = (secret: Buffer, salt: Uint8Array): Buffer =>
  createHmac('sha256', secret).update('stint payload').update(salt).digest();

function split(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  let at = 0;
  const parts = sizes.map((size) => bytes.subarray(at, (at += size)));
  return [...parts, bytes.subarray(at)];
}

const aadOf = (id: string, { part, job }: PayloadOwner): Buffer => Buffer.from(`stint:${id}:${part}:${job ?? ''}`);

function checkKeyId(id: string): string {
  if (typeof id === 'string' && idShape.test(id)) return id;
  const message = 'the id of a key has 1 to 64 letters, digits, dots, dashes and underscores';
  throw new Refusal('malformed.option', message, {});
}

/** The refusal does not contain the secret. */
function secretOf(id: string, secret: string | Uint8Array): Buffer {
  const bytes = typeof secret === 'string' ? bytesOf(secret.trim()) : secret instanceof Uint8Array ? secret : null;
  if (bytes?.length === keyBytes) return Buffer.from(bytes);
  const message = `the key ${id} must have 32 bytes, in base64 or hexadecimal: make one with openssl rand -base64 32`;
  throw new Refusal('malformed.option', message, { key: id });
}

function bytesOf(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null;
}

const nameOf = ({ part, job }: PayloadOwner): string =>
  (job === null ? `a payload (${part})` : `the ${part} of job ${job}`);

function missing(id: string, owner: PayloadOwner): never {
  const message = `${nameOf(owner)} is encrypted with the key ${id}, which this process does not have`;
  throw new Refusal('encoded.payload', message, { $encrypted: id });
}

function wrongKey(id: string, owner: PayloadOwner): Refusal {
  const message = `${nameOf(owner)} cannot be decrypted with the key ${id}: the key or the stored text has changed`;
  return new Refusal('encoded.payload', message, { $encrypted: id });
}
