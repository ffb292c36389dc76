/**
 * Encoded payloads: what a codec has made of a payload, as JSON text `{"$encoded":"…"}`. So a process with a codec
 * tells them from payloads that were stored before, and a process without it can still list, move and show their jobs.
 */
import { Refusal } from '../refusal.ts';
import type { JobError } from './job.ts';
import { parseJson, type Json } from './json.ts';

const marker = '$encoded';
const opening = `{"${marker}":"`;
const wholeText = /^\{"\$encoded":"[^"\\]*"\}$/;
/** The text of a codec begins with its name; that of `encrypt` continues with the id of the key. */
const encryptedText = /^aes-256-gcm:([\w.-]{1,64}):/;

export const encodedPayload = (text: string): string => JSON.stringify({ [marker]: text });

export const isEncodedPayload = (text: string): boolean => text.startsWith(opening) && wholeText.test(text);

/** Whether a JSON value is an encoded payload, such as the parameters of a definition. */
export const isEncodedValue = (value: unknown): value is { readonly $encoded: string } =>
  typeof value === 'object' && value !== null && typeof (value as { $encoded?: unknown }).$encoded === 'string' &&
  Object.keys(value).length === 1;

/** Returns the text that the codec made. */
export const encodedTextOf = (payload: string): string => payload.slice(opening.length, -'"}'.length);

/** Whether a text contains an encoded payload, as a whole or in a member. */
export const containsEncoded = (text: string): boolean => text.includes(opening);

/** The message of an error whose content is encoded; the encoded content is its `data`. */
export const encodedMessage = '(encrypted)';

export const isEncodedError = ({ message, data }: JobError): boolean =>
  message === encodedMessage && isEncodedValue(data);

/** What viewers see instead of an encoded payload that this process cannot decode. */
export type Placeholder = { readonly $encrypted: string } | { readonly $encoded: true };

/** Returns the placeholder of the text that a codec made. It names the key and contains nothing of the payload. */
export function placeholderOf(text: string): Placeholder {
  const [, key] = encryptedText.exec(text) ?? [];
  return key === undefined ? { $encoded: true } : { $encrypted: key };
}

/** Returns the text to show for a stored payload: the payload, or the placeholder as JSON text. */
export const shownPayload = (payload: string): string =>
  isEncodedPayload(payload) ? JSON.stringify(placeholderOf(encodedTextOf(payload))) : payload;

/** Returns the text of a log line, or a note in its place. */
export const shownLine = (text: string): string =>
  isEncodedPayload(text) ? `(${encryptionOf(encodedTextOf(text))})` : text;

/** Parses a payload. Refuses `encoded.payload` if it is still encoded, because this process could not decode it. */
export function parsePayload(payload: string, what: string): Json {
  if (isEncodedPayload(payload)) throw unreadablePayload(payload, what);
  return parseJson(payload);
}

export function unreadablePayload(payload: string, what: string): Refusal {
  const text = encodedTextOf(payload);
  const cause = 'this process does not have it, or the stored text has changed';
  return new Refusal('encoded.payload', `cannot read ${what}: it is ${encryptionOf(text)}; ${cause}`, {
    ...placeholderOf(text),
  });
}

function encryptionOf(text: string): string {
  const placeholder = placeholderOf(text);
  return '$encrypted' in placeholder ? `encrypted with the key ${placeholder.$encrypted}` : 'encoded by a codec';
}
