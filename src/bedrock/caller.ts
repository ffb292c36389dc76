/** The caller of a command: the client at the other end of a connection. */

export interface BedrockCaller {
  /** The actor that histories record. */
  readonly name: string;
  /** Whether it is on this machine; only such callers may use administrative commands. */
  readonly isLocal: boolean;
  readonly isGone: boolean;
  /** Calls back once when the caller disconnects; returns the unsubscribe function. */
  whenGone(call: () => void): () => void;
}
