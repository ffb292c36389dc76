/** Problems: maps refusals and errors to an HTTP status and problem+json (RFC 9457). */
import { refusalCodes, type Refusal, type RefusalCode } from '../refusal.ts';
import type { Problem } from './contract.ts';

/** The HTTP status of a refusal, by the first word of its code. */
const familyStatus: Readonly<Record<string, number>> = {
  malformed: 400,
  impossible: 422,
  unknown: 404,
  forbidden: 403,
  costly: 422,
  wrong: 409,
  lost: 409,
  other: 409,
  has: 409,
  no: 409,
  mismatched: 409,
  grandchildren: 409,
  taken: 409,
  busy: 409,
  encoded: 422,
  refused: 422,
  manual: 409,
  declared: 409,
  disabled: 409,
  followed: 409,
  needs: 409,
  too: 408,
  stale: 409,
  full: 409,
  contended: 503,
  newer: 503,
  older: 503,
  unavailable: 503,
};

const ownStatus: { readonly [C in RefusalCode]?: number } = {
  'malformed.input': 422, 'malformed.store': 500, 'wrong.middleware': 500, 'limit.unknown': 404,
  'fairness.weight': 422, 'limit.cost': 422,
};

/** The HTTP status of a refusal code. A test checks that every code has a status. */
export const statusOf = (code: RefusalCode): number | undefined => ownStatus[code] ?? familyStatus[code.split('.')[0]!];

/** The refusals that only exist over HTTP: the status and the title of each. */
export const httpCodes = {
  'malformed.request': [400, 'the request is invalid'],
  'unauthenticated': [401, 'a valid token is required'],
  'forbidden': [403, "this token's role is not allowed to do this"],
  'cross.origin': [403, 'requests from other sites must not change anything'],
  'unknown.route': [404, 'no such route'],
  'unknown.method': [405, 'the route does not support this method'],
  'too.slow': [408, 'the request did not arrive in time'],
  'too.large': [413, 'the request is too large'],
  'unknown.media': [415, 'the body must be application/json'],
  'wrong.host': [421, 'this host name is not configured on this server'],
  'too.many': [429, 'too many requests; try again later'],
  'too.long': [431, 'the request line or the headers are too long'],
  'internal': [500, 'internal server error'],
} as const;
export type HttpCode = keyof typeof httpCodes;

/** A refusal that only exists over HTTP; `problem` in dispatch.ts turns it into a response. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly code: HttpCode;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: HttpCode, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.code = code;
    this.headers = headers;
  }
}

export const problemOfRefusal = ({ code, message, detail }: Refusal): Problem => ({
  type: `urn:stint:refusal:${code}`,
  title: refusalCodes[code],
  status: statusOf(code) ?? 500,
  code,
  detail: message,
  ...(Object.keys(detail).length === 0 ? {} : { about: { ...detail } }),
});

export const problemOfHttp = ({ code, message }: HttpRefusal): Problem => ({
  type: `urn:stint:http:${code}`,
  title: httpCodes[code][1],
  status: httpCodes[code][0],
  code,
  detail: message,
});

/**
 * The problem of an unexpected error. It reveals neither stack nor SQL, only the trace id under which the server logged
 * the error.
 */
export const problemOfFault = (trace: string): Problem => ({
  ...problemOfHttp(new HttpRefusal('internal', `unexpected error; the server logged it with trace ${trace}`)),
  trace,
});
