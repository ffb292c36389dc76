// A door that is fuzzed: what is sent to it is drawn by a grammar, and each answer is judged.
import type { Arbitrary } from 'fast-check';

export interface Judged {
  /** How the input was answered, such as a status; the figures count them. */
  readonly answer: string;
  /** What is wrong with the answer; null: nothing. */
  readonly wrong: string | null;
}

export interface OpenDoor<Input> {
  readonly inputs: Arbitrary<Input>;
  send(input: Input): Promise<Judged>;
  /** Called every few hundred inputs and at the end: what is wrong with the whole, such as violated invariants. */
  check(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Door<Input> {
  readonly name: string;
  /** Opens it on the empty store with this URL. */
  open(store: string): Promise<OpenDoor<Input>>;
}
