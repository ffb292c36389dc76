/** The principal: the identified caller of a request. */
import type { TerminateCode } from '../../model/state.ts';
import type { Role } from '../contract.ts';
import type { Visibility } from './redact.ts';

export interface Principal {
  readonly name: string;
  readonly role: Role;
  /** A caller on this machine, on a server without tokens. */
  readonly isLocal: boolean;
  /** How much of payloads the caller sees. */
  readonly visibility: Visibility;
  /** Milliseconds since 1970; null: never. */
  readonly expires: number | null;
}

/** The code of a cancel or stop: an administrator's, or a user's. A server without tokens does not know its callers. */
export const terminateCode = ({ role, isLocal }: Principal): TerminateCode =>
  role === 'admin' && !isLocal ? 'admin' : 'user';

/** The actor that histories record. */
export const actor = ({ name }: Principal): string => `http:${name}`;
