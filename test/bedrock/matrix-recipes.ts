// Recipes of the matrix: how a job of each sort gets into each state, and how each command is sent.
import { expect } from 'vitest';
import type { BedrockState } from '../../src/vocabulary/bedrock.ts';
import type { Answer, Fields } from './client.ts';
import { answers, matrix } from './matrix.ts';
import type { BedrockWorld } from './world.ts';

export type Sort = keyof typeof matrix;

export const verbs = [
  'CreateJob+parentJobID', 'CreateJobs+parentJobID', 'CreateJob+unique', 'CreateJob+unique+parentJobID',
  'CreateJobs+unique', 'GetJob', 'GetJobs', 'QueryJob', 'UpdateJob', 'FinishJob', 'RetryJob', 'FailJob', 'CancelJob',
  'DeleteJob', 'RequeueJobs',
] as const;
export type Verb = (typeof verbs)[number];

export interface Cell {
  readonly sort: Sort;
  readonly verb: Verb;
  readonly state: BedrockState;
  readonly expected: string;
}

/** The job of a cell. */
export interface Subject {
  readonly id: number;
  readonly name: string;
  readonly parent: number | null;
  readonly mark: Fields;
}

/** Every cell of a table; throws if a cell is missing or has an unknown word. */
export function cellsOf(sort: Sort, states: readonly BedrockState[]): Cell[] {
  const [head = '', ...rows] = matrix[sort].trim().split('\n');
  expect(head.trim().split(/ +/), `the states of ${sort}`).toEqual(states);
  expect(rows.map((row) => row.split(/ +/)[0]), `the commands of ${sort}`).toEqual(verbs);
  return rows.flatMap((row) => {
    const [verb, ...words] = row.trim().split(/ +/);
    expect(words, `${sort}: ${verb}`).toHaveLength(states.length);
    return states.map((state, index) => ({ sort, verb: verb as Verb, state, expected: wordOf(words[index]!, states) }));
  });
}

function wordOf(word: string, states: readonly string[]): string {
  expect(states.includes(word) || Object.hasOwn(answers, word), word).toBe(true);
  return word;
}

const fieldsOf: Readonly<Record<Sort, Fields>> = {
  plain: {},
  child: {},
  parent: {},
  retryAfter: { retryAfter: '+5 MINUTES' },
  repeat: { repeat: 'FINISHED, +1 HOUR' },
  mocked: { mockRequest: 'true' },
};

/** A job of the sort in the state, with a unique name. */
export async function subjectOf(world: BedrockWorld, { sort, state, verb }: Cell): Promise<Subject> {
  const name = `${sort}-${state}-${verb}`;
  const fields = { name, ...fieldsOf[sort], ...(state === 'RUNQUEUED' ? { retryAfter: '+5 MINUTES' } : {}) };
  const mark: Fields = sort === 'mocked' ? { mockRequest: 'true' } : {};
  const { id, parent } = sort === 'child' ? await child(world, fields, state) : await single(
    world, sort, fields, state,
  );
  await bring(world, sort, id, name, state);
  expect(await world.state(id)).toBe(state === 'FINISHED' && parent === null ? 'gone' : state);
  return { id, name, parent, mark };
}

/** A family whose parent is PAUSED, except for a PAUSED child. */
async function child(world: BedrockWorld, fields: Fields & { name: string }, state: BedrockState) {
  const parent = await world.running({ name: `${fields.name}-parent` });
  const id = await world.create({ ...fields, parentJobID: parent });
  await world.create({ name: `${fields.name}-sibling`, parentJobID: parent });
  if (state !== 'PAUSED') await world.json('FinishJob', { jobID: parent });
  return { id, parent };
}

async function single(world: BedrockWorld, sort: Sort, fields: Fields & { name: string }, state: BedrockState) {
  const id = await world.create(fields);
  const isTaken = sort === 'parent' || !['QUEUED', 'PAUSED', 'CANCELLED'].includes(state);
  if (isTaken) await world.json('GetJob', { name: fields.name, getMockedJobs: 1 });
  if (sort === 'parent') await world.create({ name: `${fields.name}-child`, parentJobID: id });
  return { id, parent: null };
}

const operator = { by: 'operator' };

async function bring(world: BedrockWorld, sort: Sort, id: number, name: string, state: BedrockState): Promise<void> {
  if (sort === 'child' && ['RUNNING', 'RUNQUEUED', 'FINISHED', 'FAILED'].includes(state)) await world.get(name);
  switch (state) {
    case 'QUEUED':
      if (sort === 'parent') await world.json('RetryJob', { jobID: id });
      break;
    case 'PAUSED':
      if (sort === 'parent') await world.json('FinishJob', { jobID: id });
      else if (sort !== 'child') await world.jobs.pause(id, operator);
      break;
    case 'FINISHED':
      if (sort === 'parent') await endOfChild(world, id, name);
      await world.json('FinishJob', { jobID: id, ignoreRepeat: 'true' });
      break;
    case 'FAILED':
      await world.json('FailJob', { jobID: id });
      break;
    case 'CANCELLED':
      if (sort === 'child') await world.json('CancelJob', { jobID: id });
      else await world.jobs.stop(id, operator);
      break;
    case 'RUNNING':
    case 'RUNQUEUED':
      break;
  }
}

/** The parent is PAUSED, its child has ended, and the parent is handed out again. */
async function endOfChild(world: BedrockWorld, id: number, name: string): Promise<void> {
  await world.json('FinishJob', { jobID: id });
  const { jobID } = await world.get(`${name}-child`);
  await world.json('FinishJob', { jobID });
  await world.get(name);
}

/** The reply to the command for the job. */
export function ask(world: BedrockWorld, verb: Verb, { id, name, parent, mark }: Subject): Promise<Answer> {
  const family = parent === null ? {} : { parentJobID: parent };
  switch (verb) {
    case 'CreateJob+parentJobID':
      return world.ask('CreateJob', { name: `${name}-new`, parentJobID: id, ...mark });
    case 'CreateJobs+parentJobID':
      return world.ask('CreateJobs', { jobs: [{ name: `${name}-new`, parentJobID: id }], ...mark });
    case 'CreateJob+unique':
      return world.ask('CreateJob', { name, unique: 'true', ...mark });
    case 'CreateJob+unique+parentJobID':
      return world.ask('CreateJob', { name, unique: 'true', ...family, ...mark });
    case 'CreateJobs+unique':
      return world.ask('CreateJobs', { jobs: [{ name, unique: true }], ...mark });
    case 'GetJob':
      return world.ask(verb, { name, ...mark });
    case 'GetJobs':
      return world.ask(verb, { name, numResults: 3, ...mark });
    case 'RequeueJobs':
      return world.ask(verb, { jobIDs: id });
    case 'UpdateJob':
      return world.ask(verb, { jobID: id, data: { changed: true } });
    case 'QueryJob':
    case 'FinishJob':
    case 'RetryJob':
    case 'FailJob':
    case 'CancelJob':
    case 'DeleteJob':
      return world.ask(verb, { jobID: id });
  }
}

/** The word of the matrix for a reply. */
export async function wordFor(world: BedrockWorld, cell: Cell, subject: Subject, answer: Answer): Promise<string> {
  const before = cell.state === 'FINISHED' && subject.parent === null ? 'gone' : cell.state;
  const after = await world.state(subject.id);
  if (answer.status !== '200 OK') {
    expect(after, 'what is refused changes nothing').toBe(before);
    return Object.entries(answers).find(([, text]) => text === answer.status)?.[0] ?? answer.status;
  }
  if (cell.verb.includes('unique')) {
    const told = JSON.parse(answer.body) as { jobID?: number; jobIDs?: number[] };
    return (told.jobID ?? told.jobIDs![0]) === subject.id && after === before ? 'same' : 'new';
  }
  return after === before ? wordForSame(cell, after) : after;
}

/** For commands that change the state, the matrix has the resulting state, also if it is unchanged. */
const wordForSame = ({ expected }: Cell, after: string): string => (expected === after ? after : 'ok');
