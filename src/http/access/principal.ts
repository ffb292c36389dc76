/** The principal: the identified caller of a request. */
import type { TerminateCode } from '../../model/state.ts';
import type { Role } from '../contract.ts';
import type { Visibility } from './redact.ts';

export interface Principal {
  readonly name: string;
  /** The name under which its acts are recorded, if it does not call over HTTP. */
  readonly recordedAs?: string;
  readonly role: Role;
  /** Whether the caller has access only because it is on this machine; see `Access.isSetUp`. */
  readonly isLocal: boolean;
  /** How much of a payload the caller sees: all of it, all except its secrets, or only its shape. */
  readonly visibility: Visibility;
  /** When the caller's access expires, in milliseconds since 1970; null: never. */
  readonly expires: number | null;
}

/** Whether the caller's access, or its token, has expired. */
export const hasExpired = ({ expires }: Pick<Principal, 'expires'>, now: number): boolean =>
  expires !== null && expires <= now;

/**
 * Returns the code recorded with a cancel or stop: `admin` or `user`. A local caller counts as a user, because a server
 * without tokens cannot identify it.
 */
export const terminateCode = ({ role, isLocal }: Principal): TerminateCode =>
  role === 'admin' && !isLocal ? 'admin' : 'user';

/** The name under which the events and audit records of a caller are stored. */
export const actor = ({ name, recordedAs }: Principal): string => recordedAs ?? `http:${name}`;
