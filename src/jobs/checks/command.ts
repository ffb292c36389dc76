/** Validates commands of callers, because the machine does not check the values in a command. */
import type { Command, CommandName, CommandOf } from '../../model/command.ts';
import type { Edit } from '../../model/event.ts';
import type { ErrorCause, JobError } from '../../model/job.ts';
import { jsonText, parseJson } from '../../model/json.ts';
import { errorCodes, terminateCodes } from '../../model/state.ts';
import { Refusal } from '../../refusal.ts';
import {
  checkFence, checkFields, checkFlag, checkList, checkName, checkOneOf, checkPriority, checkTime, checkWhole,
  givenFields,
  checkJson, checkTags, checkTypeVersion, timeMax,
} from './values.ts';
import { checkPolicy } from './policy.ts';

type Check<C extends CommandName> = (command: CommandOf<C>, now: number) => CommandOf<C>;

const checks: { readonly [C in CommandName]: Check<C> } = {
  claim: (command) => ({ ...command, holder: checkName('holder', command.holder), until: checkUntil(command.until) }),
  succeed: checkSuccess,
  fail: (command) => ({
    ...fenced(command),
    error: checkError(command.error),
    retryable: checkFlag('retryable', command.retryable),
    ...optional('retryAt', command.retryAt, checkTime),
  }),
  release: (command) => ({ ...fenced(command), ...optional('due', command.due, checkTime) }),
  again: (command) => ({ ...fenced(command), due: checkTime('due', command.due) }),
  handOff: (command) => ({
    ...fenced(command),
    holder: checkName('holder', command.holder),
    until: checkUntil(command.until),
  }),
  sleep: (command) => ({
    ...fenced(command), name: checkName('name', command.name), until: checkTime('until', command.until),
    ...optional('seen', command.seen, (name, seen) => checkWhole(name, seen, 1, Number.MAX_SAFE_INTEGER)),
  }),
  answer: (command) => ({
    ...command, name: checkName('name', command.name), ...optional('due', command.due, checkTime),
  }),
  unanswer: (command) => ({
    ...fenced(command), name: checkName('name', command.name),
    cause: checkOneOf('cause', command.cause, ['timeout', 'schema', 'role'] as const),
  }),
  plan: (command) => ({
    ...fenced(command),
    tasks: checkCount(command.tasks),
    ...optional('details', command.details, checkJson),
    ...optional('due', command.due, checkTime),
  }),
  reclaim: (command) => ({ ...command, holder: checkName('holder', command.holder) }),
  adopt: (command) => ({
    ...command,
    tasks: checkCount(command.tasks),
    ...optional('fence', command.fence, (_, fence) => checkFence(fence)),
  }),
  expire: (command) => command,
  settle: (command) => command,
  free: (command) => command,
  follow: (command) => ({ ...command, runs: checkCount(command.runs) }),
  proceed: (command) => ({
    ...command, unsuccessful: checkCount(command.unsuccessful), ...optional('input', command.input, checkJson),
  }),
  await: (command) => ({ ...command, runs: checkCount(command.runs) }),
  pause: (command) => command,
  resume: (command) => command,
  cancel: (command) => ({
    ...command,
    code: checkTerminateCode(command.code),
    ...optional('graceMs', command.graceMs, checkMs),
    ...optional('fate', command.fate, checkFate),
  }),
  stop: (command) => ({ ...command, code: checkTerminateCode(command.code) }),
  lapse: (command) => ({ ...command, ...optional('fence', command.fence, (_, fence) => checkFence(fence)) }),
  retry: (command) => ({
    ...command, reopens: checkCount(command.reopens), ...optional('awaits', command.awaits, (_, runs) => checkCount(runs)),
    ...optional('from', command.from, checkName),
  }),
  requeue: (command) => ({
    ...command,
    due: checkTime('due', command.due),
    ...optional('crashes', command.crashes, (name, crashes) => checkWhole(name, crashes, 0, Number.MAX_SAFE_INTEGER)),
  }),
  edit: (command, now) => ({
    ...command,
    edit: checkEdit(command.edit, now),
    ...optional('fence', command.fence, (_, fence) => checkFence(fence)),
  }),
};

/** Copies the command only if its result is to be stored in another way: most outcomes of a busy engine are successes. */
function checkSuccess(command: CommandOf<'succeed'>): CommandOf<'succeed'> {
  checkFence(command.fence);
  if (command.result === undefined) return command;
  const result = checkJson('result', command.result);
  return result === command.result ? command : { ...command, result };
}

const commandNames = Object.keys(checks) as readonly CommandName[];

export function checkCommand(command: Command, now: number): Command {
  const check = checks[checkOneOf('a command', command?.do, commandNames)] as Check<CommandName>;
  return check(command, now);
}

export const checkTerminateCode = (code: unknown) => checkOneOf('code', code, terminateCodes);

export const checkMs = (name: string, ms: unknown): number => checkWhole(name, ms, 0, timeMax);

/** The fields that a caller can edit: all except `plan`, which only the scheduler sets. */
type EditableField = Exclude<keyof Edit, 'plan'>;

const editChecks: { readonly [F in EditableField]-?: (value: never, now: number) => Edit[F] } = {
  type: (value) => checkName('type', value),
  priority: (value) => checkPriority(value),
  due: (value) => checkTime('due', value),
  input: (value) => checkJson('input', value),
  typeVersion: (value) => checkTypeVersion(value),
  policy: checkPolicy,
  tags: (value) => (value === null ? null : checkTags(value)),
};

export function checkEdit(edit: Edit, now: number): Edit {
  const fields = givenFields('an edit', edit, Object.keys(editChecks));
  const check = ([field, value]: [string, never]) => [field, editChecks[field as EditableField](value, now)] as const;
  return Object.fromEntries(fields.map(check));
}

function checkError(error: JobError): JobError {
  const fields = ['code', 'message', 'name', 'id', 'causes', 'data', 'stack'] as const;
  const { code, message, name, id, causes, data, stack } = checkFields('an error', error, fields);
  return {
    code: checkOneOf('error.code', code, errorCodes),
    message: checkLine('error.message', message),
    ...optional('name', name, checkLine),
    ...optional('id', id, checkLine),
    ...optional('causes', causes, checkCauses),
    ...(data === undefined ? {} : { data: parseJson(jsonText(data)) }),
    ...optional('stack', stack, checkLine),
  };
}

const causesMax = 100;

const checkCauses = (field: string, causes: readonly ErrorCause[]): readonly ErrorCause[] =>
  checkList(field, causes, causesMax, (cause) => {
    const { message, name, id } = checkFields('a cause', cause, ['message', 'name', 'id']);
    const names = { ...optional('name', name, checkLine), ...optional('id', id, checkLine) };
    return { message: checkLine('message', message), ...names };
  });

/** Allows any characters, because these are texts of errors that handlers throw; checks only the type and the size. */
function checkLine(name: string, text: unknown): string {
  if (typeof text === 'string') return parseJson(jsonText(text)) as string;
  throw new Refusal('malformed.option', `${name} must be a text`, { name });
}

const fenced = <C extends Command & { readonly fence: number }>(command: C): C => ({
  ...command,
  fence: checkFence(command.fence),
});

const checkFate = (name: string, fate: 'cancelled' | 'failed') =>
  checkOneOf(name, fate, ['cancelled', 'failed'] as const);

const checkUntil = (until: unknown): number | null => (until === null ? null : checkTime('until', until));

const checkCount = (count: unknown): number => checkWhole('tasks', count, 0, Number.MAX_SAFE_INTEGER);

function optional<N extends string, T>(
  name: N,
  value: T | undefined,
  check: (name: string, value: T) => T,
): { [K in N]?: T } {
  return value === undefined ? {} : ({ [name]: check(name, value) } as { [K in N]?: T });
}
