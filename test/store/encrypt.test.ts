// Encryption of payloads: identity, tampering, keys.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encrypt, type Codec, type PayloadOwner } from '../../src/index.ts';

const secret = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const old = { '2026-05': secret(1) };
const both = { ...old, '2026-11': secret(2) };
const codec = encrypt({ keys: both, current: '2026-11' });
const owner: PayloadOwner = { part: 'input', job: 7 };

const refusalOf = (decode: () => unknown): { code?: string; message?: string } => {
  try {
    decode();
  } catch (error) {
    return error as { code: string; message: string };
  }
  return {};
};

test('decode gives what encode was given, and two texts of one payload differ', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.nat(), (payload, job) => {
    const text = codec.encode(payload.toWellFormed(), { part: 'result', job });
    expect(codec.decode(text, { part: 'result', job })).toBe(payload.toWellFormed());
    expect(codec.encode(payload.toWellFormed(), { part: 'result', job })).not.toBe(text);
  }), { numRuns: 200 });
});

test('any flipped bit of the text is refused, without a word of the payload', () => {
  const bytes = Buffer.from(codec.encode('planted secret', owner));
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    const { code, message } = refusalOf(() => codec.decode(flipped.toString('latin1'), owner));
    expect(code, `bit ${bit}`).toBe('encoded.payload');
    expect(message).not.toContain('planted');
  }
});

test.each<[string, PayloadOwner]>([
  ['another job', { part: 'input', job: 8 }],
  ['another part of the job', { part: 'result', job: 7 }],
])('a text that was copied to %s is refused', (_, other) => {
  expect(refusalOf(() => codec.decode(codec.encode('x', owner), other)).code).toBe('encoded.payload');
});

test('a new key encrypts, the old one still decrypts; a missing and a wrong key are refused by their id', () => {
  const before = encrypt({ keys: old, current: '2026-05' });
  const text = before.encode('x', owner);
  expect(codec.decode(text, owner)).toBe('x');
  expect(codec.encode('x', owner)).toMatch(/^aes-256-gcm:2026-11:/);
  const decodedBy = (other: Codec) => refusalOf(() => other.decode(codec.encode('planted', owner), owner));
  expect(decodedBy(before).message).toBe(
    'the input of job 7 is encrypted with the key 2026-11, which this process does not have');
  expect(decodedBy(encrypt({ keys: { '2026-11': secret(3) }, current: '2026-11' })).message).toBe(
    'the input of job 7 cannot be decrypted with the key 2026-11: the key or the stored text has changed');
});

test('a key is 32 bytes, in base64 or hexadecimal, and the refusal does not show it', () => {
  const bytes = Buffer.from(secret(9));
  for (const form of [bytes, bytes.toString('base64'), bytes.toString('base64url'), bytes.toString('hex')]) {
    const same = encrypt({ keys: { k: form }, current: 'k' });
    expect(encrypt({ keys: { k: bytes }, current: 'k' }).decode(same.encode('x', owner), owner)).toBe('x');
  }
  for (const keys of [{ k: 'hunter2' }, { k: secret(1).subarray(1) }, { 'a key': bytes }, { other: bytes }]) {
    const { code, message } = refusalOf(() => encrypt({ keys, current: 'k' }));
    expect([code, message]).toEqual(['malformed.option', expect.not.stringContaining('hunter2')]);
  }
});
