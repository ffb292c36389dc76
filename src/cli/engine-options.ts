/** The options of the commands that run an engine, and the engine they make. */
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

export interface EngineFlags {
  readonly store?: string;
  readonly jobs?: string[];
  readonly slots: string;
  readonly lease: string;
  readonly retention?: string;
  readonly httpAllow?: string[];
  readonly allowExec?: true | string[];
}

export const running = (command: Command): Command =>
  command
    .option('--store <url>', 'sqlite:FILE or postgres://… (else STINT_DATABASE_URL, DATABASE_URL, .stint/jobs.db)')
    .option('--jobs <files...>', 'files that export job types and definitions')
    .option('--slots <n>', 'how many handlers run at a time', '16')
    .option('--lease <duration>', 'how long an instance may be silent', '15s')
    .option('--retention <duration>', 'how long ended runs are kept (else for ever)')
    .option(
      '--http-allow <ranges...>',
      `what jobs of type ${httpTypeName} may call although it is not public: 10.0.0.0/8`,
    )
    .option(
      '--allow-exec [programs...]',
      `let jobs of type ${execTypeName} run these programs on this machine, or any`,
    );

export async function engineOf(
  flags: EngineFlags,
): Promise<{ readonly engine: Engine; readonly url: string; readonly logger: Logger }> {
  const url = storeUrl(flags.store);
  const { types, defs } = await loadJobs(flags.jobs ?? []);
  // A type of one's own takes the place of a built-in one.
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

/** What can be run without code. */
function builtInTypes({ httpAllow, allowExec }: EngineFlags): AnyJobType[] {
  const http = httpType(httpAllow ? { allow: httpAllow } : {});
  if (allowExec === undefined) return [http];
  return [http, execType(allowExec === true ? {} : { programs: allowExec })];
}

/** Structured lines on the standard error stream. */
function serverLogger(): Logger {
  const log = pino({ name: 'stint', base: { pid: process.pid } }, pino.destination(2));
  return {
    info: (text, about = {}) => log.info(about, text),
    warn: (text, about = {}) => log.warn(about, text),
    error: (text, { error, ...about } = {}) => log.error({ ...about, err: error }, text),
  };
}

/** Resolves when the process is asked to end; a second request ends it at once. */
export function untilAsked(): Promise<string> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.on(signal, () => {
        if (isAsked) process.exit(130);
        isAsked = true;
        resolve(signal);
      });
    }
  });
}

/** A URL without its password. */
export const shownUrl = (url: string): string => url.replace(/\/\/([^:@/]+):[^@/]+@/, '//$1:…@');
