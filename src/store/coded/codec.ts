/** The codec: encodes payloads before they are stored, and decodes them when they are read. */

/**
 * The part of a job that a payload is. `params`: the parameters of a definition, which become inputs of its runs. `memo`:
 * an alert, which belongs to no job.
 */
export type PayloadPart = 'input' | 'result' | 'details' | 'error' | 'progress' | 'log' | 'output' | 'params' | 'step' | 'memo';

/** What a payload belongs to. */
export interface PayloadOwner {
  readonly part: PayloadPart;
  /** The id of the job; null for `params`, which also become inputs of runs, and for `memo`. */
  readonly job: number | null;
}

/**
 * Both functions are synchronous, because payloads are decoded while rows are locked. `decode` throws if it cannot
 * decode the text; the payload then stays encoded, and only code that needs it fails.
 */
export interface Codec {
  readonly encode: (payload: string, owner: PayloadOwner) => string;
  readonly decode: (encoded: string, owner: PayloadOwner) => string;
}
