/** The status line that a command answers with when it cannot do what was asked. */
import { isRefusal, type Refusal, type RefusalCode } from '../refusal.ts';

/** A command's answer that is no success: `402 Missing name`. */
export class StatusError extends Error {
  readonly status: string;

  constructor(status: string) {
    super(status);
    this.status = status;
  }
}

/** What a command says for the refusals of the door; those it does not name are the same for every command. */
export type Statuses = { readonly [C in RefusalCode]?: string | ((refusal: Refusal) => string) };

/** Clients of Bedrock take exactly this one for a lost connection and try elsewhere, or later. */
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
  'lost.lease': unavailable,
  'contended': unavailable,
  'unavailable.store': unavailable,
};

/** Null: nobody's mistake but ours. */
export function statusOf(error: unknown, own: Statuses): string | null {
  if (error instanceof StatusError) return error.status;
  if (!isRefusal(error)) return null;
  const status = own[error.code] ?? common[error.code] ?? '500 Refused';
  return typeof status === 'string' ? status : status(error);
}
