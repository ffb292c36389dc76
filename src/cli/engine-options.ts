/** Creates the engine of `stint serve` or `stint work` from the options of the command. */
import { execType } from '../builtin/exec.ts';
import type { ExecTypeOptions } from '../builtin/exec-policy.ts';
import { httpType } from '../builtin/http.ts';
import type { AnyJobType } from '../engine/declare/job-type.ts';
import type { Logger } from '../logger.ts';
import { Engine } from '../open.ts';
import { storeUrl } from '../open/store-url.ts';
import { Refusal } from '../refusal.ts';
import type { Duration } from '../time/duration.ts';
import { codecOf } from './encryption-keys.ts';
import type { EngineFlags } from './engine-flags.ts';
import { decimal, wholeNumber } from './number-flag.ts';
import { loadJobs } from './load-jobs.ts';
import { serverLogger } from './server-logger.ts';

export async function engineOf(
  flags: EngineFlags,
): Promise<{ readonly engine: Engine; readonly url: string; readonly logger: Logger }> {
  const url = storeUrl(flags.store);
  const { types, defs, alerts } = await loadJobs(flags.jobs ?? []);
  // A loaded type replaces the built-in type of the same name.
  const isNamed = (name: string): boolean =>
    [...types, ...defs.map(({ type }) => type)].some((type) => type.name === name);
  const logger = serverLogger();
  const codec = await codecOf(flags.encryptionKeys);
  const engine = new Engine({
    store: url,
    types: [...types, ...builtInTypes(flags).filter(({ name }) => !isNamed(name))],
    defs,
    alerts,
    ...(flags.httpAllow === undefined ? {} : { alertAllow: flags.httpAllow }),
    slots: wholeNumber('--slots', flags.slots),
    lease: flags.lease as Duration,
    retention: flags.retention === 'never' ? null : (flags.retention as Duration),
    ...(flags.blockedMax === undefined ? {} : { blockedMax: flags.blockedMax as Duration }),
    ...(flags.instance === undefined ? {} : { instance: flags.instance }),
    ...(flags.build === undefined ? {} : { build: flags.build }),
    ...(flags.canary === undefined ? {} : { canary: decimal('--canary', flags.canary) }),
    ...(flags.undeclaredDefs === undefined ? {} : { undeclaredDefs: flags.undeclaredDefs as 'tick' }),
    ...(codec === null ? {} : { codec }),
    logger,
  });
  return { engine, url, logger };
}

function builtInTypes(flags: EngineFlags): AnyJobType[] {
  const http = httpType(flags.httpAllow ? { allow: flags.httpAllow } : {});
  const exec = execOptionsOf(flags);
  return exec === null ? [http] : [http, execType(exec)];
}

/** The options of the type that runs programs; null: --allow-exec was not given. */
function execOptionsOf({ allowExec, execEnv, execEnvAllow, execCwd }: EngineFlags): ExecTypeOptions | null {
  if (allowExec === undefined) {
    const hasOthers = execEnv !== undefined || execEnvAllow !== undefined || execCwd !== undefined;
    if (hasOthers) {
      throw new Refusal('malformed.option', 'the --exec options need --allow-exec with a list of programs', {});
    }
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
