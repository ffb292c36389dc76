/**
 * The refusal: the answer to an invalid request, with a code from this catalogue and a sentence that says what to do.
 */

export const refusalCodes = {
  'malformed.duration': 'a duration is not written like 30s, 5m or 1h30m, or is out of bounds',
  'malformed.time': 'a point in time cannot be read',
  'malformed.zone': 'a time zone is not an IANA name',
  'malformed.cron': 'a cron expression cannot be read',
  'malformed.repeat': 'a repeat rule or date modifier cannot be read',
  'malformed.schedule': 'a schedule has a field that is missing or wrong',
  'malformed.json': 'a payload is not plain JSON within the limits of depth and size',
  'malformed.input': 'an input does not fit the schema of its job type',
  'malformed.name': 'a name is empty, too long or has characters that names cannot have',
  'malformed.pattern': 'a GLOB pattern is too long or has too many stars',
  'malformed.number': 'a number is not a whole number within its bounds',
  'malformed.option': 'an option is unknown or has a wrong value',
  'malformed.id': 'an id is not a whole number between 1 and 2^53 - 1',
  'malformed.cursor': 'a page or feed cursor was not made by this store',
  'malformed.store': 'a store URL names no store that Stint knows',
  'malformed.query': 'a query in SQL cannot be read',
  'forbidden.query': 'a query in SQL does more than read the view jobs',
  'costly.query': 'a query in SQL takes too long or finds too much',
  'impossible.schedule': 'a schedule can never fire',
  'unknown.job': 'there is no job with this id',
  'unknown.definition': 'there is no definition with this name',
  'unknown.type': 'there is no job type with this name',
  'unknown.instance': 'there is no living instance with this name that takes orders',
  'unknown.parent': 'the parent named does not exist',
  'wrong.state': 'the job is not in a state in which this can be done',
  'lost.lease': 'the lease under which this was asked is no longer held',
  'wrong.parent': 'the parent is not in a state in which this can be done with its child',
  'other.parent': 'the job that has this name belongs to another parent',
  'has.children': 'a job with children cannot be cancelled here',
  'no.parent': 'a job without a parent cannot be cancelled here',
  'mismatched.mock': 'mocked and real jobs cannot be mixed',
  'grandchildren': 'a child cannot have children of its own',
  'taken.key': 'another live job has this unique key',
  'busy.type': 'a job of this type is running and only one may run at a time',
  'manual.forbidden': 'this definition takes no manual runs',
  'disabled.definition': 'this definition is disabled',
  'too.late': 'what was waited for has not happened in time',
  'contended': 'the job kept changing while this was tried',
  'newer.schema': 'the database was written by a newer Stint',
  'older.schema': 'the database has not been migrated to this version',
  'unavailable.store': 'the store cannot be reached',
} as const;

export type RefusalCode = keyof typeof refusalCodes;

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly detail: Readonly<Record<string, unknown>>;

  constructor(code: RefusalCode, message: string, detail: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.detail = detail;
  }
}

export const isRefusal = (value: unknown): value is Refusal => value instanceof Refusal;

/** Whether the input is invalid, so that repeating the request cannot succeed. */
export const isMalformed = (value: unknown): value is Refusal => isRefusal(value) && value.code.startsWith('malformed.');
