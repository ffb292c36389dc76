// Attacks on `--allow-exec` through the door that a producer has: a real `stint serve`, a token, POST /runs.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { writeTokens } from '../../src/http/access/token-file.ts';
import { newToken } from '../../src/http/access/tokens.ts';
import { Place, type Started } from '../cli/stint.ts';

interface Server {
  readonly place: Place;
  readonly started: Started;
  /** Sends a request with the token of a role. */
  send(role: Role, method: string, path: string, body?: unknown): Promise<Answer>;
}

type Role = 'producer' | 'operator';

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests read what the server answers
  readonly body: any;
}

/** What became of a run that a producer asked for: refused with a sentence, or ended with a result or an error. */
interface Outcome {
  readonly status: number;
  readonly code: string | null;
  readonly sentence: string;
  readonly stdout: string;
  readonly stderr: string;
}

async function serve(place: Place, flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Server> {
  const tokens = {
    producer: newToken({ name: 'paul', role: 'producer' }), operator: newToken({ name: 'olga', role: 'operator' }),
  };
  writeTokens(join(place.folder, 'tokens.json'), [tokens.producer.record, tokens.operator.record]);
  const common = [
    'serve', '--http', '127.0.0.1:0', '--bedrock', 'off', '--tokens', 'tokens.json', '--store', 'sqlite:jobs.db',
  ];
  const started = place.startWith(env, ...common, ...flags);
  const [, url] = await started.says(/HTTP +(\S+)/);
  return {
    place,
    started,
    async send(role, method, path, body) {
      const response = await fetch(new URL(`/api/v1${path}`, url), {
        method,
        headers: { authorization: `Bearer ${tokens[role].token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
  };
}

async function attempt(server: Server, input: unknown): Promise<Outcome> {
  const { status, body } = await server.send('producer', 'POST', '/runs', { type: 'exec', input });
  const nothing = { stdout: '', stderr: '' };
  if (status !== 201) return { status, code: body.code, sentence: body.detail, ...nothing };
  const run = await ended(server, body.id);
  const error = run['error'] as { code: string; message: string } | null;
  return {
    status, code: error?.code ?? null, sentence: error?.message ?? '', ...nothing, ...(run['result'] as object | null),
  };
}

async function ended(server: Server, id: number): Promise<Record<string, unknown>> {
  return eventually(async () => {
    const { body } = await server.send('operator', 'GET', `/runs/${id}`);
    return body.state === 'ended' ? body : undefined;
  });
}

async function eventually<T>(look: () => Promise<T | undefined | false> | T | undefined | false): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function script(path: string, text: string): string {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const isPosix = process.platform !== 'win32';
const isLinux = process.platform === 'linux';

describe.skipIf(!isPosix)('a producer cannot change what an allowed program runs', () => {
  let place: Place;
  let server: Server;

  beforeAll(async () => {
    place = new Place();
    for (const folder of ['evil', 'tools', 'early']) mkdirSync(join(place.folder, folder));
    script(join(place.folder, 'ok.sh'), '#!/bin/bash\necho "good $*"; pwd -P; env\n');
    script(join(place.folder, 'evil', 'ok.sh'), '#!/bin/bash\necho evil\n');
    script(join(place.folder, 'tools', 'stint-tool'), '#!/bin/bash\necho good tool\n');
    script(join(place.folder, 'evil', 'stint-tool'), '#!/bin/bash\necho evil tool\n');
    script(join(place.folder, 'first.sh'), '#!/bin/bash\necho first\n');
    symlinkSync('first.sh', join(place.folder, 'link.sh'));
    symlinkSync(process.execPath, join(place.folder, 'applet'));
    writeFileSync(join(place.folder, 'evil', 'evil.cjs'), `require('node:fs').writeFileSync('pwned', '')`);
    const path = [join(place.folder, 'early'), join(place.folder, 'tools'), process.env['PATH']].join(delimiter);
    const programs = ['./ok.sh', 'stint-tool', './link.sh', join(place.folder, 'applet')];
    server = await serve(place, ['--allow-exec', ...programs], { PATH: path, STINT_TEST_SECRET: 'hidden' });
  });

  afterAll(async () => {
    await server.started.stop();
    place[Symbol.dispose]();
  });

  const refused = (outcome: Outcome, sentence: RegExp): void => {
    expect([outcome.stdout, outcome.stderr, existsSync(join(place.folder, 'pwned'))]).toEqual(['', '', false]);
    expect(outcome).toMatchObject({ status: 422, code: 'malformed.input', sentence: expect.stringMatching(sentence) });
  };

  test('with arguments and stdin it is run as the operator listed it', async () => {
    const { status, code, stdout } = await attempt(server, { command: ['./ok.sh', '$(id)', '; id'], stdin: 'fed' });
    expect([status, code]).toEqual([201, null]);
    expect(stdout).toContain('good $(id) ; id\n');
    expect(stdout).not.toContain('hidden');
  });

  test('BASH_ENV', async () => {
    refused(
      await attempt(server, { command: ['./ok.sh'], env: { BASH_ENV: '$(id > pwned)' } }), /BASH_ENV .+ leave it out/,
    );
  });

  test('an exported function of bash', async () => {
    refused(
      await attempt(server, { command: ['./ok.sh'], env: { BASH_FUNC_pwd: '() { id > pwned; }' } }), /leave it out/,
    );
  });

  test('LD_PRELOAD', async () => {
    refused(
      await attempt(server, { command: ['./ok.sh'], env: { LD_PRELOAD: './evil.so' } }), /LD_PRELOAD .+ leave it out/,
    );
  });

  test('NODE_OPTIONS', async () => {
    const env = { NODE_OPTIONS: '--require ./evil/evil.cjs' };
    const command = [join(place.folder, 'applet'), '-p', '1'];
    refused(await attempt(server, { command, env }), /NODE_OPTIONS .+ leave it out/);
  });

  test('any variable that the operator has not allowed', async () => {
    const sentence = /OWN .+ leave it out.+--exec-env-allow OWN/;
    refused(await attempt(server, { command: ['./ok.sh'], env: { OWN: '1' } }), sentence);
  });

  test('cwd', async () => {
    refused(await attempt(server, { command: ['./ok.sh'], cwd: join(place.folder, 'evil') }), /leave cwd out/);
    refused(await attempt(server, { command: ['./ok.sh'], cwd: '.' }), /leave cwd out/);
  });

  test('a PATH of its own', async () => {
    refused(
      await attempt(server, { command: ['stint-tool'], env: { PATH: join(place.folder, 'evil') } }), /leave it out/,
    );
  });

  test('a program of the same name that appears earlier in the PATH of the server', async () => {
    script(join(place.folder, 'early', 'stint-tool'), '#!/bin/bash\necho evil tool\n');
    expect((await attempt(server, { command: ['stint-tool'] })).stdout).toBe('good tool\n');
  });

  test('another path to a file of the same name', async () => {
    const others = [
      'ok.sh', './/ok.sh', './evil/../ok.sh', './evil/ok.sh', 'evil/ok.sh', './ok.sh ', './ok.sh\n', './OK.sh',
      join(place.folder, 'evil', 'ok.sh'), './ok.sh -c id', '', '../ok.sh', 'stint-tool/../ok.sh', './stint-tool',
      'bash', '/bin/bash', 'sh',
    ];
    for (const program of others) {
      const { status, stdout } = await attempt(server, { command: [program] });
      expect([program, status, stdout]).toEqual([program, 422, '']);
    }
    refused(await attempt(server, { command: ['/bin/bash', '-c', 'id > pwned'] }), /\/bin\/bash .+ use .+--allow-exec/);
  });

  test('a link that is swapped after the start', async () => {
    expect((await attempt(server, { command: ['./link.sh'] })).stdout).toBe('first\n');
    unlinkSync(join(place.folder, 'link.sh'));
    symlinkSync('evil/ok.sh', join(place.folder, 'link.sh'));
    expect((await attempt(server, { command: ['./link.sh'] })).stdout).toBe('first\n');
  });

  test('the name under which a link starts a program of many names', async () => {
    const applet = join(place.folder, 'applet');
    expect((await attempt(server, { command: [applet, '-p', 'process.argv0'] })).stdout).toBe(`${applet}\n`);
  });

  test('names of variables with = or a line break, and values with NUL', async () => {
    for (const env of [{ 'A=B': '1' }, { 'A\nLD_PRELOAD': '1' }, { '': '1' }, { 'A B': '1' }, { A: 'x\0y' }, { A: 1 }]) {
      const { status, code, stdout } = await attempt(server, { command: ['./ok.sh'], env });
      expect([env, status, code, stdout]).toEqual([env, 422, 'malformed.input', '']);
    }
  });

  test('fields that there are not, such as shell', async () => {
    for (const field of ['shell', 'argv0', 'uid', 'detached']) {
      expect((await attempt(server, { command: ['./ok.sh'], [field]: '/bin/bash' })).status).toBe(422);
    }
  });

  test('by a way past the check at creation: it is checked again before it runs', async () => {
    const input = JSON.stringify({ command: ['./ok.sh'], env: { BASH_ENV: '$(id > pwned)' } });
    const { out } = await place.stint(
      'runs', 'create', 'exec', '--input', input, '--store', 'sqlite:jobs.db', '--json',
    );
    const { attempt: attempts, error } = await ended(server, (JSON.parse(out) as { id: number }).id);
    expect([attempts, error]).toMatchObject([1, { code: 'could not start', message: expect.stringMatching(/leave it out/) }]);
    expect(existsSync(join(place.folder, 'pwned'))).toBe(false);
  });
});

describe.skipIf(!isPosix)('the operator decides', () => {
  test('environment and directory, and which variables a run may set', async () => {
    using place = new Place();
    mkdirSync(join(place.folder, 'work'));
    script(join(place.folder, 'ok.sh'), '#!/bin/bash\npwd -P; env\n');
    const server = await serve(place, [
      '--allow-exec', './ok.sh', '--exec-cwd', 'work', '--exec-env', 'REGION=eu', '--exec-env', 'MODE=a=b',
      '--exec-env-allow', 'DAY,LOCALE', '--exec-env-allow', 'REGION',
    ]);
    const { code, stdout } = await attempt(server, { command: ['./ok.sh'], env: { DAY: 'monday' } });
    expect(code).toBe(null);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/\/work$/);
    expect(lines).toEqual(expect.arrayContaining(['REGION=eu', 'MODE=a=b', 'DAY=monday']));
    const changed = await attempt(server, { command: ['./ok.sh'], env: { REGION: 'us' } });
    expect(changed.stdout.split('\n')).toContain('REGION=us');
    expect(await attempt(server, { command: ['./ok.sh'], env: { MODE: 'c' } })).toMatchObject({ status: 422 });
    const shock = await attempt(server, { command: ['./ok.sh'], env: { DAY: '() { :; }; id > pwned' } });
    expect(shock).toMatchObject({ status: 422, sentence: expect.stringContaining('DAY') });
    expect(existsSync(join(place.folder, 'work', 'pwned'))).toBe(false);
    await server.started.stop();
  });

  test('and is refused at the start what would undo it', async () => {
    using place = new Place();
    script(join(place.folder, 'ok.sh'), '#!/bin/bash\n');
    const allow = ['--allow-exec', './ok.sh'];
    const wrong: [string[], RegExp][] = [
      [[...allow, '--exec-env-allow', 'DAY,LD_PRELOAD'], /LD_PRELOAD/],
      [[...allow, '--exec-env', 'DAY'], /NAME=VALUE/],
      [['--allow-exec', './missing.sh'], /missing\.sh/],
      [['--exec-cwd', '.'], /--allow-exec/],
    ];
    for (const [flags, sentence] of wrong) {
      const { code, err } = await place.stint('serve', '--http', 'off', '--bedrock', 'off', ...flags);
      expect([flags, code]).toEqual([flags, 2]);
      expect(err).toMatch(sentence);
      expect(err).toMatch(/^stint: .+ \(malformed\.option\)\n$/);
    }
  });
});

describe.skipIf(!isLinux)('a grandchild in a session of its own does not outlive', () => {
  /** Starts a grandchild by setsid, whose parent is gone at once, and writes its pid to a file. */
  const daemon = `
    const { spawn } = require('node:child_process');
    const [file, ends] = process.argv.slice(1);
    const code = "const [, file] = process.argv; const fs = require('node:fs');" +
      "fs.writeFileSync(file + '.new', String(process.pid)); fs.renameSync(file + '.new', file);" +
      "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
    spawn(process.execPath, ['-e', code, '--', file], { detached: true, stdio: 'ignore' }).unref();
    const { existsSync } = require('node:fs');
    setInterval(() => {
      if (ends === 'ends' && existsSync(file)) process.exit();
    }, 20);`;

  let place: Place;
  let server: Server;

  beforeAll(async () => {
    place = new Place();
    server = await serve(place, ['--allow-exec', process.execPath]);
  });

  afterAll(async () => {
    await server.started.stop();
    place[Symbol.dispose]();
  });

  let families = 0;

  async function family(
    onTestFinished: TestContext['onTestFinished'], ends: 'ends' | 'stays', input: object = {},
  ) {
    const file = join(place.folder, `pid-${(families += 1)}`);
    const command = [process.execPath, '-e', daemon, '--', file, ends];
    const { body } = await server.send('producer', 'POST', '/runs', { type: 'exec', input: { command, ...input } });
    const pid = await eventually(() => existsSync(file) && Number(readFileSync(file, 'utf8')));
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    return { pid, id: body.id as number };
  }

  describe.concurrent('a run', () => {
    test('that ends by itself', async ({ onTestFinished }) => {
      const { id, pid } = await family(onTestFinished, 'ends');
      expect((await ended(server, id))['standing']).toBe('succeeded');
      expect(isAlive(pid)).toBe(false);
    });

    test('that takes too long', async ({ onTestFinished }) => {
      const { id, pid } = await family(onTestFinished, 'stays', { timeout: '3s' });
      expect((await ended(server, id))['error']).toMatchObject({ code: 'timed out' });
      expect(isAlive(pid)).toBe(false);
    });

    test.for(['cancel', 'stop'])('that an operator ends: %s', async (act, { onTestFinished }) => {
      const { id, pid } = await family(onTestFinished, 'stays');
      expect((await server.send('operator', 'POST', `/runs/${id}/${act}`, {})).status).toBe(200);
      await ended(server, id);
      // A stop ends the run first, and then what it started.
      await eventually(() => !isAlive(pid));
    });
  });

  test('the server, when it is asked to end twice', async ({ onTestFinished }) => {
    const { pid } = await family(onTestFinished, 'stays');
    server.started.signal('SIGTERM');
    // It has handled the first signal when it stops answering.
    await eventually(() => server.send('operator', 'GET', '/runs').then(() => false, () => true));
    server.started.signal('SIGTERM');
    await server.started.ended();
    expect(isAlive(pid)).toBe(false);
  });
});

/** A zombie has exited: its parent has only not collected it. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
