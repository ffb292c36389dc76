/** Encodes and decodes single payloads. A payload that cannot be decoded stays as it is stored. */
import {
  containsEncoded, encodedMessage, encodedPayload, encodedTextOf, isEncodedError, isEncodedPayload, isEncodedValue,
} from '../../model/encoded-payload.ts';
import type { JobError } from '../../model/job.ts';
import { parseJson, type Json } from '../../model/json.ts';
import { Refusal } from '../../refusal.ts';
import type { Codec, PayloadOwner, PayloadPart } from './codec.ts';

type JsonMembers = { readonly [name: string]: Json };

const paramsOwner: PayloadOwner = { part: 'params', job: null };
export const memoOwner: PayloadOwner = { part: 'memo', job: null };
/** The members of the record of a definition, or of an audit entry about it, that may have parameters. */
const paramsHolders = ['code', 'override', 'before', 'after'];

export class Payloads {
  readonly #codec: Codec;

  constructor(codec: Codec) {
    this.#codec = codec;
  }

  encode(payload: string, owner: PayloadOwner): string {
    const text: unknown = this.#codec.encode(payload, owner);
    // Backslashes and quotes would be escaped in JSON, which `isEncodedPayload` does not accept.
    if (typeof text === 'string' && /^[^"\\\p{Cc}]*$/u.test(text)) return encodedPayload(text);
    const message = 'encode of the codec must return text without quotes, backslashes and control characters';
    throw new Refusal('malformed.option', message, { given: typeof text });
  }

  decode(payload: string, job: number, part: PayloadPart): string {
    if (!isEncodedPayload(payload)) return payload;
    const text = encodedTextOf(payload);
    const own = this.#decoded(text, { part, job });
    // An instance without the codec creates the runs of ticks with the encoded parameters as their input.
    return (own ?? (part === 'input' ? this.#decoded(text, paramsOwner) : undefined)) ?? payload;
  }

  decodeMemo(value: string): string {
    return isEncodedPayload(value) ? (this.#decoded(encodedTextOf(value), memoOwner) ?? value) : value;
  }

  /** An encoded input stays as it is: it is the parameters of a definition, copied by a process without the codec. */
  encodeInput(input: string, job: number): string {
    return isEncodedPayload(input) ? input : this.encode(input, { part: 'input', job });
  }

  /** Only the code of the error stays readable: Stint has set it. */
  encodeError({ code, ...content }: JobError, job: number): JobError {
    const payload = this.encode(JSON.stringify(content), { part: 'error', job });
    return { code, message: encodedMessage, data: JSON.parse(payload) as unknown };
  }

  decodeError(error: JobError, job: number): JobError {
    if (!isEncodedError(error)) return error;
    const content = this.#decoded((error.data as { $encoded: string }).$encoded, { part: 'error', job });
    return content === undefined ? error : { code: error.code, ...(JSON.parse(content) as Omit<JobError, 'code'>) };
  }

  /** Encodes the parameters in the record of a definition, or of an audit entry. */
  encodeParams(record: string): string {
    if (!record.includes('"params":')) return record;
    const encoded = withParams(parseJson(record), (params) => {
      if (params === null || isEncodedValue(params)) return params;
      return parseJson(this.encode(JSON.stringify(params), paramsOwner));
    });
    return JSON.stringify(encoded);
  }

  decodeParams(record: string): string {
    if (!containsEncoded(record) || isEncodedPayload(record)) return record;
    const decoded = withParams(parseJson(record), (params) => {
      const text = isEncodedValue(params) ? this.#decoded(params.$encoded, paramsOwner) : undefined;
      return text === undefined ? params : parseJson(text);
    });
    return JSON.stringify(decoded);
  }

  #decoded(text: string, owner: PayloadOwner): string | undefined {
    try {
      return this.#codec.decode(text, owner);
    } catch {
      return undefined;
    }
  }
}

/** Returns the record with its parameters changed by `change`, wherever it has some. */
function withParams(record: Json, change: (params: Json) => Json): Json {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) return record;
  const members = Object.entries(record as JsonMembers).map(([name, value]): [string, Json] => {
    if (name === 'params') return [name, change(value)];
    return [name, paramsHolders.includes(name) ? withParams(value, change) : value];
  });
  return Object.fromEntries(members);
}
