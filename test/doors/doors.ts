// The doors: each carries an attempt to the database in its own way, and answers with the code of the refusal, or null.
import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';
import type { Engine } from '../../src/index.ts';
import { isRefusal } from '../../src/refusal.ts';
import type { World as HttpWorld } from '../http/world.ts';
import type { Attempt } from './attempts.ts';

export interface Door {
  readonly name: string;
  /** `made`: the name of the definition that it creates, or the tag of the run. */
  ask(attempt: Attempt, made: string): Promise<string | null>;
}

export const library = (engine: Engine): Door => ({
  name: 'the library',
  ask: (attempt, made) => refusalOf(async () => {
    const { asks } = attempt;
    const body = bodyOf(attempt, made);
    if ('run' in asks) await engine.createNamed({ type: asks.run }, body);
    else if ('runDef' in asks) await engine.createNamed({ def: asks.runDef }, body);
    else if ('define' in asks) await engine.define(made, asks.define, body);
    else await engine.override(asks.edit, body);
  }),
});

/** `headers`: what a browser sends along. */
export const http = (name: string, server: HttpWorld, headers: Record<string, string> = {}): Door => ({
  name,
  ask: async (attempt, made) => {
    const { asks } = attempt;
    const body = bodyOf(attempt, made);
    const ask = (method: string, path: string, sent: object) => server.send(method, `/api/v1${path}`, sent, { headers });
    const { status, body: answer } =
      'run' in asks ? await ask('POST', '/runs', { type: asks.run, ...body })
      : 'runDef' in asks ? await ask('POST', `/defs/${asks.runDef}/run`, body)
      : 'define' in asks ? await ask('POST', '/defs', { name: made, type: asks.define, ...body })
      : await ask('PATCH', `/defs/${asks.edit}`, body);
    return status < 300 ? null : (answer as { code: string }).code;
  },
});

/** The command of a shell, in this process: forty processes would take a minute. */
export const commandLine = (store: string): Door => ({
  name: 'the command line',
  ask: (attempt, made) => refusalOf(async () => {
    const words = wordsOf(attempt, made);
    await quiet(program()).parseAsync(['node', 'stint', ...words, '--store', store, '--json']);
  }),
});

function wordsOf({ asks, body }: Attempt, made: string): string[] {
  if ('define' in asks) return ['defs', 'create', made, '--type', asks.define, '--settings', JSON.stringify(body)];
  if ('edit' in asks) return ['defs', 'edit', asks.edit, '--settings', JSON.stringify(body)];
  const { tags = {}, ...rest } = body as { tags?: Record<string, string> };
  const flags = Object.entries(rest).flatMap(([name, value]) => [flagOf(name), textOf(name, value)]);
  const tagged = Object.entries({ ...tags, attempt: made }).map(([name, value]) => `${name}=${value}`);
  const what = 'run' in asks ? ['runs', 'create', asks.run] : ['defs', 'run', asks.runDef];
  return [...what, ...flags, '--tag', ...tagged];
}

const flagOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
const textOf = (name: string, value: unknown): string => (name === 'input' ? JSON.stringify(value) : String(value));

/** Runs carry a tag by which they are found. */
function bodyOf({ asks, body }: Attempt, made: string): object {
  const isRun = 'run' in asks || 'runDef' in asks;
  return isRun ? { ...body, tags: { ...(body['tags'] as object | undefined), attempt: made } } : body;
}

async function refusalOf(ask: () => Promise<void>): Promise<string | null> {
  try {
    await ask();
    return null;
  } catch (error) {
    if (isRefusal(error)) return error.code;
    // An option that the command does not have.
    if ((error as { code?: string }).code?.startsWith('commander.')) return 'malformed.option';
    throw error;
  }
}

/** Throws instead of ending the process, and prints no errors. */
function quiet(command: Command): Command {
  command.exitOverride().configureOutput({ writeErr: () => {}, outputError: () => {} });
  for (const part of command.commands) quiet(part);
  return command;
}
