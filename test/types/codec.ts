// Types of codecs; nothing here is ever called.
import { encrypt, type Codec, type EngineOptions } from '../../src/index.ts';
import { exactly } from './same.ts';

export const sound: EngineOptions = {
  codec: {
    encode: (payload, owner) => {
      exactly<string>()(payload);
      exactly<number | null>()(owner.job);
      return payload;
    },
    decode: (text) => text,
  },
};

exactly<Codec>()(encrypt({ keys: { a: 'secret', b: new Uint8Array(32) }, current: 'a' }));

// @ts-expect-error -- it must be synchronous
export const late: Codec = { encode: async (payload) => payload, decode: (text) => text };
// @ts-expect-error -- it needs both
export const half: Codec = { encode: (payload) => payload };
// @ts-expect-error -- a secret is a text or bytes
encrypt({ keys: { a: 7 }, current: 'a' });
