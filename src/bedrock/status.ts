/** Status lines: maps errors and refusals to the status of a reply. */
import { isRefusal, type Refusal, type RefusalCode } from '../refusal.ts';

/** Thrown by a command to reply with an error status, such as `402 Missing name`. */
export class StatusError extends Error {
  readonly status: string;

  constructor(status: string) {
    super(status);
    this.status = status;
  }
}

/**
 * The statuses of one command, by refusal code. A code that the command does not list has its status in `common`; a
 * code that is in neither list has the status `500 Refused`.
 */
export type Statuses = { readonly [C in RefusalCode]?: string | ((refusal: Refusal) => string) };

/** Bedrock's clients treat this status, and no other, like a lost connection: they retry the command. */
const unavailable = '500 Internal Server Error';

const common: Statuses = {
  'unknown.job': '404 No job with this jobID',
  'malformed.name': '402 Malformed name',
  'malformed.pattern': '402 Malformed name',
  'malformed.number': '402 Invalid priority value',
  'malformed.json': '402 Malformed data',
  'malformed.repeat': '402 Malformed repeat',
  'impossible.schedule': '402 Malformed repeat',
  'malformed.time': '402 Malformed nextRun',
  'refused.creation': '403 Refused',
  'lost.lease': unavailable,
  'contended': unavailable,
  'unavailable.store': unavailable,
  'unavailable.outcome': unavailable,
};

/** Returns the status for an error that a command threw; null: the error is neither a StatusError nor a refusal. */
export function statusOf(error: unknown, own: Statuses): string | null {
  if (error instanceof StatusError) return error.status;
  if (!isRefusal(error)) return null;
  const status = own[error.code] ?? common[error.code] ?? '500 Refused';
  return typeof status === 'string' ? status : status(error);
}
