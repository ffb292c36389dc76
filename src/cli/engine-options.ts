/** The options of the commands that run an engine, and the engine built from them. */
import type { Command } from 'commander';
import { pino } from 'pino';
import { execType, execTypeName } from '../builtin/exec.ts';
import { httpType, httpTypeName } from '../builtin/http.ts';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import type { Logger } from '../logger.ts';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store.ts';
import type { Duration } from '../time/duration.ts';
import { loadJobs } from './load-jobs.ts';
import { storeFlagText } from './session.ts';

export interface EngineFlags {
  readonly store?: string;
  readonly jobs?: string[];
  readonly slots: string;
  readonly lease: string;
  readonly retention?: string;
  readonly httpAllow?: string[];
  readonly allowExec?: true | string[];
}

export const addEngineFlags = (command: Command): Command =>
  command
    .option('--store <url>', storeFlagText)
    .option('--jobs <files...>', 'files that export job types and definitions')
    .option('--slots <n>', 'handlers to run at a time', '16')
    .option('--lease <duration>', 'time without a heartbeat after which other instances take over its jobs', '15s')
    .option('--retention <duration>', 'delete ended runs after this time (default: keep them)')
    .option(
      '--http-allow <ranges...>',
      `private address ranges that jobs of type ${httpTypeName} may call, such as 10.0.0.0/8`,
    )
    .option(
      '--allow-exec [programs...]',
      `let jobs of type ${execTypeName} run these programs on this machine; without a list, any`,
    );

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
    retention: (flags.retention as Duration | undefined) ?? null,
    logger,
  });
  return { engine, url, logger };
}

/** The job types that need no code. */
function builtInTypes({ httpAllow, allowExec }: EngineFlags): AnyJobType[] {
  const http = httpType(httpAllow ? { allow: httpAllow } : {});
  if (allowExec === undefined) return [http];
  return [http, execType(allowExec === true ? {} : { programs: allowExec })];
}

/** Writes structured lines to standard error. */
function serverLogger(): Logger {
  const log = pino({ name: 'stint', base: { pid: process.pid } }, pino.destination(2));
  return {
    info: (text, about = {}) => log.info(about, text),
    warn: (text, about = {}) => log.warn(about, text),
    error: (text, { error, ...about } = {}) => log.error({ ...about, err: error }, text),
  };
}

/** Resolves at the first SIGINT or SIGTERM; the second one exits at once. */
export function untilStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(130);
        isStopping = true;
        resolve(signal);
      });
    }
  });
}

/** A URL without its password. */
export const shownUrl = (url: string): string => url.replace(/\/\/([^:@/]+):[^@/]+@/, '//$1:…@');
