/** The caller of a command: the client at the other end of a connection. */

export interface BedrockCaller {
  /** The actor that histories record. */
  readonly name: string;
  /** Whether the caller is on this machine. Only local callers may use administrative commands. */
  readonly isLocal: boolean;
  readonly isGone: boolean;
  /** Calls `call` once, when the caller disconnects or if it is gone already. Returns a function that unsubscribes. */
  whenGone(call: () => void): () => void;
}
