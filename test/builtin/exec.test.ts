// The built-in type that runs a program: real processes, and what is left of them.
import { chmod, copyFile, mkdir, mkdtemp, readFile, realpath, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { execType, type ExecInput } from '../../src/builtin/exec.ts';
import { envNameIssue } from '../../src/builtin/exec-environment.ts';
import type { ExecTypeOptions } from '../../src/builtin/exec-policy.ts';
import { Engine, RunCancelled, type RunFailed, type RunHandle } from '../../src/index.ts';

interface World {
  readonly engine: Engine;
  readonly start: (command: [string, ...string[]], more?: Partial<ExecInput>) => Promise<RunHandle>;
}

async function world(options: Partial<ExecTypeOptions> = {}): Promise<World> {
  const type = execType({ programs: [process.execPath], ...options });
  const engine = new Engine({ store: 'memory:', types: [type] });
  await engine.resume();
  onTestFinished(() => engine.close({ patience: '0s' }));
  return { engine, start: (command, more = {}) => engine.createJobRun(type, { input: { command, ...more } }) };
}

/** A program of ours, whatever the machine has. */
const script = (code: string): [string, ...string[]] => [process.execPath, '-e', code];
const failureOf = (run: RunHandle): Promise<RunFailed> =>
  run.result().then(
    () => {
      throw new Error('it did not fail');
    },
    (error: RunFailed) => error,
  );

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('a program', () => {
  test('gets its arguments as they are, its input and its environment, and its output is the result', async () => {
    const { start, engine } = await world({ envAllow: ['OWN'] });
    process.env['STINT_TEST_SECRET'] = 'hidden';
    onTestFinished(() => void delete process.env['STINT_TEST_SECRET']);
    const code = `const { OWN, STINT_TEST_SECRET = null } = process.env;
      process.stdin.on('data', (data) =>
        console.log(JSON.stringify([process.argv.slice(1), String(data), OWN, STINT_TEST_SECRET])));
      process.stdin.on('end', () => console.error('careful'));`;
    const words = ['$(touch /nothing)', '; ls', '`id`', '"', '*', '--x=y z'];
    const run = await start([...script(code), '--', ...words], { stdin: 'fed', env: { OWN: 'own' } });
    const { stdout, stderr } = (await run.result()) as { stdout: string; stderr: string };
    expect(JSON.parse(stdout)).toEqual([words, 'fed', 'own', null]);
    expect(stderr).toBe('careful\n');
    expect((await engine.log(run.id)).map(({ level, text }) => [level, text])).toContainEqual(['warn', 'careful']);
  });

  test('that exits with an error fails the run, with its exit code and the end of its output', async () => {
    const { start } = await world();
    const failure = await failureOf(await start(script(`console.error('no such thing'); process.exit(3)`)));
    expect(failure.message).toContain('exit code 3');
    expect(failure.error?.data).toMatchObject({ exitCode: 3, stderr: 'no such thing\n' });
  });

  test('that the list does not have is refused when the run is created, with what to do', async () => {
    const { start } = await world();
    await expect(start(['sh', '-c', 'date'])).rejects.toMatchObject({
      code: 'malformed.input',
      message: expect.stringMatching(/sh is not a program .+: use .+, or ask the operator/),
    });
  });

  test('that is gone or leads elsewhere since the start fails the run for good', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'stint-exec-')));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'bin'));
    const program = join(folder, 'bin', 'tool');
    await copyFile('/bin/sh', program);
    await chmod(program, 0o755);
    const { start } = await world({ programs: [program] });
    await rename(join(folder, 'bin'), join(folder, 'other'));
    expect((await failureOf(await start([program, '-c', 'true']))).message).toContain('cannot run');
    await symlink(join(folder, 'other'), join(folder, 'bin'));
    expect((await failureOf(await start([program, '-c', 'true']))).message).toContain('leads to another file');
  });

  test.each([
    ['no program', { programs: [] }],
    ['a program without a name', { programs: [''] }],
    ['a path where nothing is', { programs: ['/no/such/program'] }],
    ['a name that PATH has not', { programs: ['stint-no-such-tool'] }],
    ['a folder', { programs: [tmpdir()] }],
    ['a file that is no program', { programs: [import.meta.filename] }],
    ['a working directory that is missing', { cwd: '/no/such/directory' }],
    ['a working directory that is a file', { cwd: process.execPath }],
    ['a variable with an equals sign', { env: { 'A=B': '1' } }],
    ['a value with a NUL', { env: { A: 'x\0y' } }],
    ['a name with a comma', { envAllow: ['A,B'] }],
  ])('and its settings are checked when the type is created: %s', (_what, options) => {
    expect(() => execType({ programs: [process.execPath], ...options })).toThrow(
      expect.objectContaining({ code: 'malformed.option' }),
    );
  });

  test('has settings of its own beside those of all, in code as on the command line', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'stint-exec-')));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const { start } = await world({
      env: { A: 'all', B: 'all' },
      envAllow: ['OTHER'],
      programs: [{ program: process.execPath, env: { B: 'own' }, cwd: folder, envAllow: ['OWN'] }],
    });
    const code = script('const { A, B, OWN } = process.env; console.log(JSON.stringify([process.cwd(), A, B, OWN]))');
    const run = await start(code, { env: { OWN: 'run' } });
    expect(JSON.parse(((await run.result()) as { stdout: string }).stdout)).toEqual([folder, 'all', 'own', 'run']);
    await expect(start(code, { env: { OTHER: 'run' } })).rejects.toMatchObject({ code: 'malformed.input' });
  });

  test('gets the id of its run, and no run can pretend to be another', async () => {
    const { start } = await world();
    const run = await start(script('console.log(process.env.STINT_JOB)'));
    expect(((await run.result()) as { stdout: string }).stdout).toMatch(new RegExp(`^${run.id}\\.\\d+\n$`));
    for (const options of [{ envAllow: ['STINT_JOB'] }, { env: { STINT_EXEC: 'x' } }]) {
      expect(() => execType({ programs: [process.execPath], ...options })).toThrow(/STINT_/);
    }
  });

  test('with more output than is stored loses the beginning, and the result says so', async () => {
    const { start } = await world();
    const run = await start(script(`process.stdout.write('a'.repeat(300_000) + 'end')`));
    const { stdout, isCut } = (await run.result()) as { stdout: string; isCut: boolean };
    expect([stdout.length, stdout.slice(-4), isCut]).toEqual([65_536, 'aend', true]);
  });

  test('that takes too long is ended', async () => {
    const { start } = await world();
    const failure = await failureOf(await start(script('setInterval(() => {}, 1000)'), { timeout: '300ms' }));
    expect(failure.error).toMatchObject({ code: 'timed out' });
  });
});

describe('variables by which a program runs other code', () => {
  test.each([
    'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT', 'DYLD_INSERT_LIBRARIES', 'GLIBC_TUNABLES', 'BASH_ENV', 'BASH_FUNC_ls',
    'ENV', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'IFS', 'PATH', 'Path', 'HOME', 'XDG_CONFIG_HOME', 'NODE_OPTIONS',
    'NODE_PATH',
    'PYTHONPATH', 'PYTHONSTARTUP', 'PYTHONHOME', 'PERL5OPT', 'PERL5LIB', 'PERL5DB', 'RUBYOPT', 'RUBYLIB',
    'GIT_SSH_COMMAND',
    'GIT_CONFIG_COUNT', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'CLASSPATH', 'LUA_INIT', 'LUA_INIT_5_4', 'PHPRC',
    'EDITOR',
    'PAGER', 'LESSOPEN', 'TAR_OPTIONS', 'OPENSSL_CONF', 'npm_config_script_shell', 'MAKEFLAGS', 'RUSTC_WRAPPER',
    'STINT_JOB',
  ])('stay closed even if they are allowed: %s', (name) => {
    expect(envNameIssue(name, new Set([name]))).toMatch(/leave it out/);
    expect(() => execType({ programs: [process.execPath], envAllow: [name] })).toThrow(name);
  });

  test.each(['DAY', 'NODE_ENV', 'LANG', 'TZ', 'PGHOST', 'REGION', 'ENVIRONMENT'])('%s can be allowed', (name) => {
    expect(envNameIssue(name, new Set([name]))).toBe(null);
  });
});

describe.skipIf(process.platform === 'win32')('the end', () => {
  /** Starts a grandchild that nothing but its group ties to it, and writes down both. */
  async function family(
    isDeaf: boolean,
  ): Promise<{ code: [string, ...string[]]; pids: () => Promise<number[] | undefined> }> {
    const folder = await mkdtemp(join(tmpdir(), 'stint-exec-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'pids');
    const deaf = isDeaf ? `process.on('SIGTERM', () => {});` : '';
    const code = `${deaf}
      const { spawn } = require('node:child_process');
      const { writeFileSync, renameSync } = require('node:fs');
      const [file, code] = process.argv.slice(1);
      const child = spawn(process.execPath, ['-e', code], { stdio: 'inherit' });
      writeFileSync(file + '.new', process.pid + ' ' + child.pid);
      renameSync(file + '.new', file);
      setInterval(() => {}, 1000);`;
    const pids = async (): Promise<number[] | undefined> =>
      (await readFile(file, 'utf8').catch(() => undefined))?.split(' ').map(Number);
    return { code: [...script(code), '--', file, `${deaf} setInterval(() => {}, 1000)`], pids };
  }

  test('by cancel takes everyone that the program started with it', async () => {
    const { start } = await world();
    const { code, pids } = await family(false);
    const run = await start(code);
    const both = await eventually(pids);
    await run.cancel();
    await expect(run.result()).rejects.toBeInstanceOf(RunCancelled);
    await eventually(async () => !both.some(isAlive));
  });

  test('by stop is at once, also for those that do not listen', async () => {
    const { start, engine } = await world();
    const { code, pids } = await family(true);
    const run = await start(code);
    const both = await eventually(pids);
    await engine.stopJobRun(run.id);
    await eventually(async () => !both.some(isAlive));
  });

  test('of the engine ends it too', async () => {
    const { start, engine } = await world();
    const { code, pids } = await family(true);
    await start(code);
    const both = await eventually(pids);
    await engine.close({ patience: '0s' });
    await eventually(async () => !both.some(isAlive));
  });

  test.skipIf(process.platform !== 'linux')('leaves no pipe open to a process that escaped', async () => {
    const pipes = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    const before = pipes();
    const { start, engine } = await world({ programs: ['/bin/sh'] });
    // Without a mark, and orphaned before it can be recorded.
    const run = await start(['/bin/sh', '-c', 'setsid -f env -i sleep 7; sleep 0.02']);
    await run.result();
    await engine.close();
    await eventually(async () => pipes() <= before);
  });
});
