/** The command-line options of the commands that run an engine. */
import type { Command } from 'commander';
import { execTypeName, httpTypeName } from '../builtin/type-names.ts';
import { encryptionFlagText, storeFlagText } from './session.ts';

export interface EngineFlags {
  readonly store?: string;
  readonly jobs?: string[];
  readonly slots: string;
  readonly lease: string;
  readonly retention: string;
  readonly blockedMax?: string;
  readonly instance?: string;
  readonly build?: string;
  readonly canary?: string;
  readonly undeclaredDefs?: string;
  readonly encryptionKeys?: string;
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
      '--blocked-max <duration>',
      'how long a handler may block the event loop before other instances take over (default: 10m)',
    )
    .option('--instance <name>', 'name of this instance; no other live one may have it (default: a random name)')
    .option(
      '--build <id>',
      'what is deployed, such as a commit; the newest build declares types and definitions (default: a hash of them)',
    )
    .option('--canary <share>', 'start at most this share of the jobs that other instances execute, such as 0.05')
    .option(
      '--undeclared-defs <effect>',
      'ticks of definitions that no running code declares any more: tick or stop (default: tick)',
    )
    .option('--encryption-keys <file>', encryptionFlagText)
    .option(
      '--http-allow <ranges...>',
      `private address ranges that jobs of type ${httpTypeName} and alerts may call, such as 10.0.0.0/8`,
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
