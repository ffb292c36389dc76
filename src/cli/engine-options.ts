/** The options of the commands that run an engine, and the engine built from them. */
import type { Command } from 'commander';
import { pino, type DestinationStream } from 'pino';
import { execType, execTypeName } from '../builtin/exec.ts';
import type { ExecTypeOptions } from '../builtin/exec-policy.ts';
import { httpType, httpTypeName } from '../builtin/http.ts';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import { textFirst, type Logger } from '../logger.ts';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store.ts';
import { Refusal } from '../refusal.ts';
import type { Duration } from '../time/duration.ts';
import { loadJobs } from './load-jobs.ts';
import { storeFlagText } from './session.ts';

export interface EngineFlags {
  readonly store?: string;
  readonly jobs?: string[];
  readonly slots: string;
  readonly lease: string;
  readonly retention: string;
  readonly httpAllow?: string[];
  readonly allowExec?: string[];
  readonly execEnv?: string[];
  readonly execEnvAllow?: string[];
  readonly execCwd?: string;
}

export const addEngineFlags = (command: Command): Command =>
  command
    .option('--store <url>', storeFlagText)
    .option('--jobs <files...>', 'files that export job types and definitions')
    .option('--slots <n>', 'handlers to run at a time', '16')
    .option('--lease <duration>', 'time without a heartbeat after which other instances take over its jobs', '15s')
    .option('--retention <duration>', 'delete ended runs after this time, or never', '30d')
    .option(
      '--http-allow <ranges...>',
      `private address ranges that jobs of type ${httpTypeName} may call, such as 10.0.0.0/8`,
    )
    .option(
      '--allow-exec <programs...>',
      `programs that jobs of type ${execTypeName} may run on this machine: paths, or names in PATH`,
    )
    .option('--exec-env <NAME=VALUE>', 'environment variable of these programs (repeatable)', listed)
    .option('--exec-env-allow <names>', 'variables that a job may set for them: NAME,NAME (default: none)', listed)
    .option('--exec-cwd <dir>', 'the directory in which they start (default: that of the server)');

/** Collects the values of an option that can be repeated. */
const listed = (value: string, before: string[] = []): string[] => [...before, value];

export async function engineOf(
  flags: EngineFlags,
): Promise<{ readonly engine: Engine; readonly url: string; readonly logger: Logger }> {
  const url = storeUrl(flags.store);
  const { types, defs } = await loadJobs(flags.jobs ?? []);
  // A loaded type replaces the built-in type of the same name.
  const isNamed = (name: string): boolean =>
    [...types, ...defs.map(({ type }) => type)].some((type) => type.name === name);
  const logger = serverLogger();
  const engine = new Engine({
    store: url,
    types: [...types, ...builtInTypes(flags).filter(({ name }) => !isNamed(name))],
    defs,
    slots: Number(flags.slots),
    lease: flags.lease as Duration,
    retention: flags.retention === 'never' ? null : (flags.retention as Duration),
    logger,
  });
  return { engine, url, logger };
}

/** The built-in job types: HTTP requests and, if --allow-exec was given, programs. */
function builtInTypes(flags: EngineFlags): AnyJobType[] {
  const http = httpType(flags.httpAllow ? { allow: flags.httpAllow } : {});
  const exec = execOptionsOf(flags);
  return exec === null ? [http] : [http, execType(exec)];
}

/** The options of the type that runs programs; null: --allow-exec was not given. */
function execOptionsOf({ allowExec, execEnv, execEnvAllow, execCwd }: EngineFlags): ExecTypeOptions | null {
  if (allowExec === undefined) {
    const hasOthers = execEnv !== undefined || execEnvAllow !== undefined || execCwd !== undefined;
    if (hasOthers) throw new Refusal('malformed.option', 'the --exec options need --allow-exec with a list of programs', {});
    return null;
  }
  return {
    programs: allowExec,
    env: Object.fromEntries((execEnv ?? []).map(variableOf)),
    envAllow: (execEnvAllow ?? []).flatMap((names) => names.split(',')).map((name) => name.trim()),
    ...(execCwd === undefined ? {} : { cwd: execCwd }),
  };
}

function variableOf(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new Refusal('malformed.option', `--exec-env takes NAME=VALUE, not ${text.slice(0, 60)}`, {});
}

/** Logs JSON lines, to stderr by default. */
export function serverLogger(destination: DestinationStream = pino.destination(2)): Logger {
  return textFirst(pino({ name: 'stint', base: { pid: process.pid } }, destination));
}

/** The URL of a store for output: without its password, and without its query, which may contain another URL. */
export const shownUrl = (url: string): string => url.replace(/\?.*$/s, '').replace(/\/\/([^:@/]+):[^@/]+@/, '//$1:…@');
