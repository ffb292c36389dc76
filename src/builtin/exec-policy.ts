/**
 * What runs of type `exec` may start. The operator's configuration fixes programs, directory and environment once, when
 * the type is created; a run passes arguments, standard input, and the variables that the operator allows by name.
 */
import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { Refusal } from '../refusal.ts';
import { envNameIssue, envValueIssue, isEnvName, isReservedName } from './exec-environment.ts';

export interface ExecTypeOptions {
  /**
   * The programs that runs may start: absolute paths, paths relative to the current directory, or names that are looked
   * up in PATH. Each is resolved to a real path once, when the type is created.
   */
  readonly programs: readonly (string | ExecProgram)[];
  /**
   * Environment variables of every program. From the process of the engine, programs inherit only PATH, HOME, USER,
   * LANG, LC_ALL, TZ, TMPDIR, TEMP and SystemRoot.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** The directory in which every program starts. Default: the current directory when the type is created. */
  readonly cwd?: string;
  /** The names of the variables that the input of a run may set. Default: none. */
  readonly envAllow?: readonly string[];
}

/** A program with settings that differ from those of the other programs. */
export interface ExecProgram {
  readonly program: string;
  /** Added to `env` of the type. A variable here replaces the variable of the type with the same name. */
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces `cwd` of the type for this program. */
  readonly cwd?: string;
  /** Replaces `envAllow` of the type for this program. */
  readonly envAllow?: readonly string[];
}

/** A program of the operator's list. Its own settings and those of the type have been combined. */
export interface FixedProgram {
  /** The real path, without symbolic links. */
  readonly path: string;
  /**
   * The absolute path before symbolic links are resolved, passed as argv[0]. A program with many names (busybox)
   * chooses its function by argv[0]. Under its real path, busybox would let the first argument choose the function.
   */
  readonly listedPath: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly envAllow: ReadonlySet<string>;
}

/** The fields of a run's input that ExecPolicy checks. */
export interface ExecRequest {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export interface ExecIssue {
  readonly path: string[];
  readonly message: string;
}

/** The variables that every program inherits from the process of the engine. */
const inheritedNames: readonly string[] = [
  'PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'SystemRoot',
];
const programSuffixes: readonly string[] = process.platform === 'win32' ? ['', '.exe', '.com'] : [''];

export class ExecPolicy {
  readonly #programs = new Map<string, FixedProgram>();
  readonly #listed: readonly string[];

  constructor({ programs, ...common }: ExecTypeOptions) {
    if (!Array.isArray(programs) || programs.length === 0) {
      throw refusal('the type exec needs a list of programs: name each program that runs may start');
    }
    const entries = programs.map((entry): ExecProgram => (typeof entry === 'string' ? { program: entry } : entry));
    for (const entry of entries) this.#add(entry, common);
    this.#listed = entries.map(({ program }) => program);
  }

  /** Returns the parts of the request that the operator has not allowed. Each message says what to do instead. */
  issues({ command: [name], env }: ExecRequest): ExecIssue[] {
    const program = this.#programs.get(name);
    if (program === undefined) {
      const message = `${shown(name)} is not a program that this server runs: use ${this.#listed.join(', ')}, or ask the operator to add it to --allow-exec`;
      return [{ path: ['command', '0'], message }];
    }
    return Object.entries(env).flatMap(([variable, value]) => {
      const message = envNameIssue(variable, program.envAllow) ?? envValueIssue(variable, value);
      return message === null ? [] : [{ path: ['env', shown(variable)], message }];
    });
  }

  /**
   * Returns the program to start. Throws if it is not listed, or if its real path has no file any more or has become a
   * link to another file since the type was created.
   */
  program(name: string): FixedProgram {
    const program = this.#programs.get(name);
    if (program === undefined) throw new Error(`cannot run ${shown(name)}: it is not in the list of programs`);
    // Someone may have replaced a directory of the path by a link since the server started.
    const path = realPath(program.path);
    if (path === program.path) return program;
    const cause = path === null ? 'is gone' : 'leads to another file';
    throw new Error(`cannot run ${shown(name)}: ${program.path} ${cause} since the server started; restart the server`);
  }

  /**
   * Adds the program under two names that a run can use: its text in the operator's list, and its absolute path. A run
   * must give one of them exactly.
   */
  #add({ program, ...own }: ExecProgram, common: Omit<ExecTypeOptions, 'programs'>): void {
    const listedPath = locate(program);
    const fixed: FixedProgram = {
      path: realpathSync(listedPath),
      listedPath,
      cwd: directory(own.cwd ?? common.cwd ?? '.'),
      env: { ...inherited(), ...operatorEnv(common.env), ...operatorEnv(own.env) },
      envAllow: new Set((own.envAllow ?? common.envAllow ?? []).map(allowedName)),
    };
    for (const name of [program, listedPath]) if (!this.#programs.has(name)) this.#programs.set(name, fixed);
  }
}

/**
 * Returns the absolute path of a listed program; does not resolve links. Throws a refusal if no executable file has
 * this path or name.
 */
function locate(program: string): string {
  if (typeof program !== 'string' || program === '' || program.includes('\0')) {
    throw refusal('a program of the type exec is a path or a name, and not empty');
  }
  const isPath = program.includes('/') || (process.platform === 'win32' && program.includes('\\'));
  // Relative entries of PATH are skipped: they would depend on the server's working directory.
  const folders = isPath ? ['.'] : (process.env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const candidates = folders.flatMap((folder) =>
    programSuffixes.map((suffix) => (isPath ? resolve(program) : join(folder, program)) + suffix),
  );
  const found = candidates.find(isProgram);
  if (found !== undefined) return found;
  const where = isPath
    ? `there is no executable file ${resolve(program)}`
    : 'no directory of PATH has an executable file of this name';
  throw refusal(`cannot allow the program ${shown(program)}: ${where}`);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

function directory(path: string): string {
  const real = realPath(resolve(path));
  if (real !== null && statSync(real).isDirectory()) return real;
  throw refusal(`cannot start programs in ${shown(path)}: there is no such directory`);
}

const inherited = (): Record<string, string> =>
  Object.fromEntries(inheritedNames.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));

function operatorEnv(env: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(env)) {
    if (!isEnvName(name) || isReservedName(name)) {
      throw refusal(`${shown(name)} cannot be set for programs: a name has letters, digits and _, and does not begin with STINT_`);
    }
    if (typeof value !== 'string' || value.includes('\0')) throw refusal(`the value of ${name} is a text without NUL`);
  }
  return env;
}

function allowedName(name: string): string {
  const issue = envNameIssue(name, new Set([name]));
  if (issue === null) return name;
  throw refusal(`runs cannot be allowed to set ${shown(name)}: ${issue}`);
}

const refusal = (message: string): Refusal => new Refusal('malformed.option', message, {});

export const shown = (text: string): string => JSON.stringify(String(text).slice(0, 100)).slice(1, -1);
