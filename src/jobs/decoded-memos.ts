/** Reads memos that this process can decode. */
import { isEncodedPayload } from '../model/encoded-payload.ts';
import { Refusal } from '../refusal.ts';
import type { Memo, Store } from '../store/store.ts';

/** Returns the memos whose names begin with `prefix`; refuses if one of them is encoded. `what` names them in the refusal. */
export async function decodedMemos(store: Pick<Store, 'memos'>, prefix: string, what: string): Promise<readonly Memo[]> {
  const memos = await store.memos(prefix);
  if (!memos.some(({ value }) => isEncodedPayload(value))) return memos;
  throw new Refusal('encoded.payload', `cannot read the ${what}: they are encoded, and this process has no key for them`);
}
