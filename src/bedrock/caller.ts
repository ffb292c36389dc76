/** The caller: who asks, as far as commands need to know. */

export interface BedrockCaller {
  /** As histories tell it. */
  readonly name: string;
  /** On this machine, and so trusted with what only its administrator may do. */
  readonly isLocal: boolean;
  readonly isGone: boolean;
  /** Calls once when the caller is gone; the answer takes that back. */
  whenGone(call: () => void): () => void;
}
