/** Problems: each refusal as an HTTP status and problem+json; what is not a refusal is told by a trace alone. */
import { refusalCodes, type Refusal, type RefusalCode } from '../refusal.ts';
import type { Problem } from './contract.ts';

/** By the first word of the code. */
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
  manual: 409,
  disabled: 409,
  too: 408,
  contended: 503,
  newer: 503,
  older: 503,
  unavailable: 503,
};

const ownStatus: { readonly [C in RefusalCode]?: number } = { 'malformed.input': 422, 'malformed.store': 500 };

/** Undefined: nobody has thought of this code so far. */
export const statusOf = (code: RefusalCode): number | undefined => ownStatus[code] ?? familyStatus[code.split('.')[0]!];

/** What only this face refuses. */
export const httpCodes = {
  'malformed.request': [400, 'the request does not fit the contract'],
  'unauthenticated': [401, 'this needs a token'],
  'forbidden': [403, 'the role of this token does not reach so far'],
  'cross.origin': [403, 'another site cannot change anything here'],
  'unknown.route': [404, 'there is no such route'],
  'unknown.method': [405, 'the route does not take this method'],
  'too.large': [413, 'the request is larger than this server takes'],
  'unknown.media': [415, 'a body must be application/json'],
  'wrong.host': [421, 'this server does not go by that name'],
  'too.many': [429, 'too many of these: wait before the next'],
  'internal': [500, 'the server made a mistake'],
} as const;
export type HttpCode = keyof typeof httpCodes;

/** What a face refuses, thrown on its way to the answer. */
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

/** Neither stack nor SQL leaves the server: only the name under which its log tells more. */
export const problemOfFault = (trace: string): Problem => ({
  ...problemOfHttp(new HttpRefusal('internal', `something went wrong here: the server's log tells of it as ${trace}`)),
  trace,
});
