/**
 * The refusal: the answer to a request that cannot be fulfilled, with a code from this catalogue and a sentence that
 * says why.
 */

export const refusalCodes = {
  'malformed.duration': 'a duration does not have the form 30s, 5m or 1h30m, or is out of bounds',
  'malformed.rate': 'a rate does not have the form 500/1m or 10/s, or is out of bounds',
  'malformed.time': 'a time cannot be parsed',
  'malformed.zone': 'a time zone is not an IANA name',
  'malformed.cron': 'a cron expression cannot be parsed',
  'malformed.repeat': 'a repeat rule or date modifier cannot be parsed',
  'malformed.schedule': 'a schedule has a field that is missing or wrong',
  'malformed.json': 'a payload is not plain JSON within the limits of depth and size',
  'malformed.output': 'the output of a job is larger than allowed',
  'malformed.input': 'an input does not match the schema of its job type',
  'malformed.answer': 'an answer does not match the schema of its wait',
  'malformed.name': 'a name is empty, too long or has invalid characters',
  'malformed.pattern': 'a GLOB pattern is too long or has too many stars',
  'malformed.number': 'a number is not a whole number within its bounds',
  'malformed.option': 'an option is unknown or has a wrong value',
  'malformed.id': 'an id is not a whole number between 1 and 2^53 - 1',
  'malformed.cursor': 'a page or feed cursor does not come from this store',
  'malformed.store': 'a store URL has an unknown scheme',
  'malformed.document': 'a document of definitions cannot be parsed, or uses a name twice',
  'malformed.range': 'a range of ticks is empty, ends in the future, or has too many ticks',
  'malformed.query': 'a query in SQL cannot be parsed',
  'forbidden.query': 'a query in SQL does more than read the view jobs',
  'forbidden.answer': 'this person may not answer the question',
  'forbidden.priority': 'the priority is above the highest that this caller may give',
  'costly.query': 'a query in SQL takes too long or finds too much',
  'malformed.flow': 'a flow is empty, has a cycle, or has too many runs or edges',
  'impossible.schedule': 'a schedule can never fire',
  'unknown.job': 'there is no job with this id',
  'unknown.definition': 'there is no definition with this name',
  'unknown.type': 'there is no job type with this name',
  'unknown.instance': 'there is no live instance with this name that accepts commands',
  'unknown.parent': 'the parent does not exist',
  'declared.limit': 'a limit that the code of a living instance declares cannot be deleted',
  'limit.unknown': 'there is no limit with this name',
  'unknown.alert': 'there is no alert with this name',
  'unknown.view': 'there is no saved view with this name',
  'unknown.flow': 'there is no flow with this id',
  'unknown.request': 'there is no request with this id in the inbox',
  'unknown.step': 'the job has no finished step with this name',
  'unknown.wait': 'the token belongs to no open wait',
  'unknown.pause': 'the job type or key is not paused',
  'wrong.state': 'the state of the job does not allow this',
  'limit.cost': 'the cost of a job is not a number above 0, or is above the burst of its limit',
  'fairness.weight': 'the weight in the fairness of a job is not a whole number from 1 to 1,000',
  'lost.lease': 'the worker no longer holds the lease of the job',
  'wrong.parent': 'the state of the parent does not allow this for its child',
  'other.parent': 'the job that has this name belongs to another parent',
  'has.children': 'a job with children cannot be cancelled here',
  'no.schedule': 'the definition has no schedule whose past ticks are known',
  'no.parent': 'a job without a parent cannot be cancelled here',
  'mismatched.mock': 'mocked and real jobs cannot be mixed',
  'grandchildren': 'a child cannot have children of its own',
  'taken.step': 'the attempt has used this name for another step or sleep',
  'taken.answer': 'the wait has been answered already, or has timed out',
  'taken.key': 'another job has this unique key',
  'taken.alert': 'there is an alert with this name already',
  'taken.limit': 'there is a limit with this name already',
  'taken.view': 'there is a saved view with this name already',
  'taken.instance': 'another running instance has this name',
  'busy.type': 'a job of this type is running and only one may run at a time',
  'encoded.payload': 'a stored payload is encrypted, and this process cannot decrypt it or cannot search in it',
  'refused.creation': 'a middleware of the engine refused to create the run',
  'wrong.middleware': 'a middleware did not call next exactly once',
  'manual.forbidden': 'this definition does not allow manual runs',
  'declared.definition': 'code declares this definition, so that only its override can be changed',
  'followed.definition': 'other definitions follow this definition, so that it cannot be deleted',
  'disabled.definition': 'this definition is disabled',
  'needs.database': 'the command works on the database itself, not through a server',
  'needs.code': 'only a program that has the code of the job type can do this',
  'too.late': 'the run has not ended in time',
  'stale.plan': 'the definitions have changed since the plan was made',
  'stale.view': 'the saved view has changed since it was read',
  'full.views': 'there are as many saved views as allowed',
  'contended': 'the job was changed by others again and again',
  'newer.schema': 'the database was migrated by a newer version of Stint',
  'older.schema': 'the database has not been migrated to this version',
  'unavailable.store': 'the store cannot be reached',
  'unavailable.server': 'the server cannot be reached',
  'unavailable.outcome': 'the store was lost before it answered, so it is unknown whether the change was stored',
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

/** Whether the value is the refusal of a store that cannot be reached, or not be used. */
export const isUnavailable = (value: unknown): value is Refusal => isRefusal(value) && value.code === 'unavailable.store';

/** Whether the cause of the refusal may pass: repeating the same request can succeed. */
export const isTemporary = ({ code }: Refusal): boolean => code.startsWith('unavailable.') || code === 'contended';

/** Whether the value is a refusal of invalid input: repeating the same request cannot succeed. */
export const isMalformed = (value: unknown): value is Refusal =>
  isRefusal(value) && value.code.startsWith('malformed.');
