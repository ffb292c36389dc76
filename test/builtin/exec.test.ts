// The built-in type that runs a program: real processes, and what is left of them.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { execType, type ExecInput, type ExecTypeOptions } from '../../src/builtin/exec.ts';
import { Engine, RunCancelled, type RunFailed, type RunHandle } from '../../src/index.ts';

interface World {
  readonly engine: Engine;
  readonly start: (command: [string, ...string[]], more?: Partial<ExecInput>) => Promise<RunHandle>;
}

async function world(options: ExecTypeOptions = {}): Promise<World> {
  const type = execType(options);
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
    const { start, engine } = await world();
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

  test('that ends badly fails the run, with its code and the end of what it said', async () => {
    const { start } = await world();
    const failure = await failureOf(await start(script(`console.error('no such thing'); process.exit(3)`)));
    expect(failure.message).toContain('exit code 3');
    expect(failure.error?.data).toMatchObject({ exitCode: 3, stderr: 'no such thing\n' });
  });

  test('that is not there, or not among those allowed, is refused for good', async () => {
    expect((await failureOf(await (await world()).start(['/no/such/program']))).message).toContain(
      'cannot be run: ENOENT',
    );
    const { start } = await world({ programs: ['date'] });
    expect((await failureOf(await start(['sh', '-c', 'date']))).message).toContain('not among the programs');
  });

  test('that says more than is kept loses the beginning, and that is told', async () => {
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
});
