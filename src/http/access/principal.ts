/** The principal: who asks. Bound once, when the request comes in; all its parts are done in this name. */
import type { Role } from '../contract.ts';
import type { Visibility } from './redact.ts';

export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** Someone on this machine, where no tokens are set up. */
  readonly isLocal: boolean;
  /** What they see of payloads. */
  readonly visibility: Visibility;
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null;
}

/** What histories call them. */
export const actor = ({ name }: Principal): string => `http:${name}`;
