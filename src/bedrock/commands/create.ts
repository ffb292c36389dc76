/** CreateJob and CreateJobs. */
import type { QueueDraft } from '../../jobs/bedrock/create.ts';
import {
  checkExactText, exactJsonLimits, isObject, parseExact, scalarText, type Json, type JsonObject,
} from '../../model/json.ts';
import { isRefusal, type Refusal } from '../../refusal.ts';
import type { BedrockCall, BedrockCommand, Reply } from '../call.ts';
import { isMocked, parentIdOf, priorityOf, timeOf } from '../parameters.ts';
import { StatusError, type Statuses } from '../status.ts';

const badData = '402 Data is not a valid JSON Object';
const tooMuchData = '402 Malformed data';
const badRepeat = '402 Malformed repeat';
const badRetryAfter = '402 Malformed retryAfter';

const statuses: Statuses = {
  'malformed.json': ({ detail }: Refusal) => (detail['bytesMax'] === undefined ? badData : tooMuchData),
  'malformed.time': '402 Malformed firstRun',
  'malformed.repeat': ({ detail }: Refusal) => (detail['field'] === undefined ? badRepeat : badRetryAfter),
  'unknown.parent': '404 parentJobID does not exist',
  'wrong.parent': '405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED',
  'other.parent': '404 Trying to create a child that already exists, but it is tied to a different parent',
  'mismatched.mock': '405 Parent and child jobs must have matching mockRequest setting',
  'grandchildren': '405 Cannot create grandchildren',
};

export const createJob: BedrockCommand = {
  statuses,
  run: async (call) => {
    const [id] = await create(call, [draftOf((name) => call.headers.get(name.toLowerCase()))]);
    return { status: '200 OK', body: `{"jobID":${id}}` };
  },
};

export const createJobs: BedrockCommand = {
  statuses,
  run: async (call): Promise<Reply> => {
    const ids = await create(call, elementsOf(call.headers.get('jobs') ?? '').map(draftOfElement));
    return { status: '200 OK', body: `{"jobIDs":[${ids.join(',')}]}` };
  },
};

const create = ({ services, headers, caller }: BedrockCall, drafts: readonly QueueDraft[]): Promise<number[]> =>
  services.queue.create(drafts, isMocked(headers), caller.name);

/** Reads a field of a job as text, from a header or a member of a JSON object. */
type Field = (name: string) => string | undefined;

function draftOf(field: Field): QueueDraft {
  const name = field('name');
  if (!name) throw new StatusError('402 Missing name');
  const given = {
    firstRun: timeOf(field('firstRun')),
    repeat: field('repeat')?.toUpperCase() || undefined,
    retryAfter: field('retryAfter') || undefined,
    priority: priorityOf(field('jobPriority') ?? field('priority')),
    parent: parentIdOf(field('parentJobID')),
  };
  const overwrite = field('overwrite');
  return {
    name,
    data: field('data') ?? null,
    isUnique: field('unique') === 'true',
    overwrite: overwrite === undefined || overwrite === '' || overwrite === 'true',
    ...definedOf(given),
  };
}

function draftOfElement(element: JsonObject): QueueDraft {
  return draftOf((name) => {
    const value = Object.hasOwn(element, name) ? element[name] : undefined;
    if (name === 'data' && value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
    return scalarText(value);
  });
}

function elementsOf(text: string): readonly JsonObject[] {
  const list = parsed(text);
  const isNonEmptyObject = (element: Json): boolean => isObject(element) && Object.keys(element).length > 0;
  if (Array.isArray(list) && list.length > 0 && list.every(isNonEmptyObject)) return list as readonly JsonObject[];
  throw new StatusError('401 Invalid JSON');
}

/**
 * The limits of the JSON list of a CreateJobs request. They are looser than `exactJsonLimits`, the limits of one job's
 * data, which are checked later for each job.
 */
const listLimits = { bytes: Infinity, depth: 2 * exactJsonLimits.depth };

function parsed(text: string): Json {
  try {
    return parseExact(checkExactText(text, listLimits));
  } catch (error) {
    throw isRefusal(error) ? new StatusError('401 Invalid JSON') : error;
  }
}

const definedOf = <T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
