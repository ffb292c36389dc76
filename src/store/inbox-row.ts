/** The rows of the table `inbox`, which the stores on SQL have in common. */
import type { InboxRequest, InboxStanding } from './store.ts';

export interface InboxRow {
  readonly id: number;
  readonly type: string;
  readonly input: string | null;
  readonly options: string;
  readonly at: number;
  readonly refused_at: number | null;
  readonly code: string | null;
  readonly message: string | null;
}

export function requestOfRow(row: InboxRow): InboxRequest {
  const { id, type, input, options, at, refused_at: refusedAt, code, message } = row;
  const refused = refusedAt === null ? null : { at: refusedAt, code: code ?? '', message: message ?? '' };
  return { id, type, input, options, at, refused };
}

/** The condition for requests of a standing; undefined: of any. */
export function standingSql(standing: InboxStanding | undefined): string {
  if (standing === undefined) return 'true';
  return standing === 'waiting' ? 'refused_at is null' : 'refused_at is not null';
}
