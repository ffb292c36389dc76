import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { Engine, jobType } from '../../src/index.ts';
import { until } from '../http/world.ts';
import { bin, Place } from './stint.ts';

const hello = fileURLToPath(new URL('../../examples/hello/jobs.ts', import.meta.url));

test('help names every command and the version is that of the package', async () => {
  using place = new Place();
  const help = await place.alone('--help');
  expect(help.code).toBe(0);
  const commands = [
    'serve',
    'work',
    'migrate',
    'runs',
    'defs',
    'types',
    'instances',
    'events',
    'schedule',
    'top',
    'doctor',
    'tokens',
    'bench',
    'completion',
    'verify',
  ];
  for (const command of commands) expect(help.out).toContain(command);
  expect((await place.stint('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('each command ends its process, with its exit code', async () => {
  using place = new Place();
  for (const [expected, ...words] of [
    [0, 'migrate'], [0, 'runs', 'create', 'orphan'], [0, 'runs', 'cancel', '1', '--why', 'a test'], [3, 'runs', 'watch', '1'],
    [0, 'defs', 'ls'], [0, 'types', 'ls'], [0, 'instances', 'ls'], [0, 'audit', 'ls'], [0, 'tokens', 'ls'], [0, 'verify'],
    [0, 'backup', 'copy.db'], [0, 'bench', '--jobs', '1'], [0, 'completion', 'bash'], [0, 'doctor'], [2, 'runs', 'show', '7'],
    [2, 'odd'],
  ] as const) {
    const { code, out, err } = await place.alone(...words);
    expect([words, code], err).toEqual([words, expected]);
    expect(code === 2 ? err : out).not.toBe('');
  }
});

test('help loads neither an engine nor a package other than commander, so that it is printed at once', async () => {
  using place = new Place();
  const loaded = await place.startWith({ NODE_OPTIONS: `--import ${listingLoaded}` }, '--help').ended();
  const files = loaded.err.trimEnd().split('\n');
  expect(files.some((file) => file.endsWith('src/cli/program.ts'))).toBe(true);
  const packages = files.flatMap((file) => /node_modules\/([^/]+)/.exec(file)?.[1] ?? []);
  expect([...new Set(packages)]).toEqual(['commander']);
  expect(files.filter((file) => /src\/(open|engine\/engine|verify|store\/\w+\/store)\.ts$/.test(file))).toEqual([]);
});

test('a command loads only the adapter of its store', async () => {
  using place = new Place();
  const words = ['migrate', '--store', 'sqlite:jobs.db'];
  const loaded = await place.startWith({ NODE_OPTIONS: `--import ${listingLoaded}` }, ...words).ended();
  expect(loaded.err).toContain('/src/store/sqlite/store.ts\n');
  expect(loaded.err).not.toMatch(/src\/store\/postgres\/|node_modules\/pg/);
});

/** A module that prints to stderr which modules are loaded after it. */
const listingLoaded = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const load = (url, context, next) => (console.error(url), next(url, context));
  registerHooks({ load });
`)}`;

test('a refusal is printed as one sentence without a stack, with exit code 2', async () => {
  using place = new Place();
  for (const words of [
    ['runs', 'show', 'abc'],
    ['runs', 'show', '7'],
    ['defs', 'show', 'nothing'],
    ['runs', 'ls', '--state', 'odd'],
    ['runs', 'ls', '--store', 'mysql://x'],
  ]) {
    const { code, err } = await place.stint(...words);
    expect(code, words.join(' ')).toBe(2);
    expect(err).toMatch(/^stint: .+ \([a-z.]+\)\n$/);
  }
});

test('migrate --dry-run prints the statements, and migrate executes them once', async () => {
  using place = new Place();
  expect((await place.stint('migrate', '--dry-run')).out).toContain('CREATE TABLE job');
  expect((await place.stint('migrate')).out).toMatch(/schema 0 → \d+/);
  expect((await place.stint('migrate')).out).toContain('is up to date');
});

test('schedule preview prints the next ticks and refuses an invalid expression', async () => {
  using place = new Place();
  const { code, out } = await place.stint(
    'schedule',
    'preview',
    '--cron',
    '30 2 * * *',
    '--zone',
    'Europe/Berlin',
    '--count',
    '3',
    '--json',
  );
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ words: expect.any(String) as unknown, ticks: [{}, {}, {}] });
  const bad = await place.stint('schedule', 'preview', '--cron', '61 * * * *');
  expect(bad).toMatchObject({ code: 2 });
});

test('serve runs the jobs of a file, answers over HTTP, and ends with code 0 after SIGTERM', async () => {
  using place = new Place();
  const server = place.start('serve', '--jobs', hello, '--http', '127.0.0.1:0', '--bedrock', '127.0.0.1:0');
  const [, url] = await server.says(/HTTP +(\S+)/);
  const health = await fetch(new URL('/health', url));
  expect(health.status).toBe(200);

  const created = await fetch(new URL('/api/v1/runs', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'greet', input: { name: 'Ada' } }),
  });
  expect(created.status).toBe(201);
  const { id } = (await created.json()) as { id: number };
  const watched = await place.stint('runs', 'watch', String(id));
  expect(watched).toMatchObject({ code: 0 });
  expect(watched.out).toContain('succeeded');

  expect((await place.stint('runs', 'ls')).out).toContain('greet');
  expect((await place.stint('defs', 'ls')).out).toContain('greet every minute');
  expect((await place.stint('types', 'ls')).out).toContain('squares');
  for (const [words, path] of [
    [['runs', 'show', String(id)], `runs/${id}`], [['runs', 'events', String(id)], `runs/${id}/events`],
    [['runs', 'log', String(id)], `runs/${id}/log`], [['runs', 'ls'], 'runs?limit=20'],
  ] as const) {
    const answer: unknown = await (await fetch(`${url}/api/v1/${path}`)).json();
    expect(JSON.parse((await place.stint(...words, '--json')).out), words.join(' ')).toEqual(answer);
  }
  await place.stint('defs', 'create', 'by hand', '--type', 'greet');
  const both = async (words: readonly string[], path: string): Promise<unknown[]> => [
    JSON.parse((await place.stint(...words, '--json')).out), await (await fetch(`${url}/api/v1/${path}`)).json(),
  ];
  const [def, defOfServer] = await both(['defs', 'show', 'by hand'], 'defs/by%20hand');
  expect(def).toEqual(defOfServer);
  const named = (name: string) => (page: unknown): unknown =>
    (page as { items: { name: string }[] }).items.find((item) => item.name === name);
  const [listed, listedByServer] = (await both(['defs', 'ls'], 'defs')).map(named('by hand'));
  expect(listed).toEqual(listedByServer);
  // This program lacks the code of the types.
  const [type, typeOfServer] = await both(['types', 'show', 'squares'], 'types/squares');
  expect(type).toEqual({ ...(typeOfServer as object), isLocal: false });
  const [squares, squaresOfServer] = (await both(['types', 'ls'], 'types')).map(named('squares'));
  expect(squares).toEqual({ ...(squaresOfServer as object), isLocal: false });
  const shown = await place.stint('types', 'show', 'squares');
  expect(shown.out).toMatch(/^ +"upTo": \{$/m);
  expect((await place.stint('types', 'show', 'nothing')).code).toBe(2);
  expect((await place.stint('runs', 'log', String(id))).out).toContain('greeting Ada');

  expect(await server.stop()).toMatchObject({ code: 0 });
  const afterwards = await place.stint('types', 'ls');
  expect(afterwards.out, 'the catalogue outlives the instances').toMatch(/squares +0 +0 +0 +–/);
  for (const words of ['events', 'log', 'tasks', 'show']) {
    const { code, err } = await place.stint('runs', words, '999');
    expect([code, err], words).toEqual([2, 'stint: there is no run 999 (unknown.job)\n']);
  }
});

test('serve and work take every option of an engine', async () => {
  using place = new Place();
  const worker = place.start(
    'work', '--instance', 'web-1', '--build', 'v7', '--undeclared-defs', 'stop', '--blocked-max', '5m',
  );
  await worker.says(/^web-1 is running/m);
  expect((await place.stint('instances', 'ls')).out).toContain('web-1');
  expect((await place.stint('work', '--undeclared-defs', 'perhaps')).code).toBe(2);
  expect((await place.stint('work', '--blocked-max', 'soon')).code).toBe(2);
  expect(await worker.stop()).toMatchObject({ code: 0 });
});

test('doctor exits with code 1 if there is a problem, and with 0 otherwise', async () => {
  using place = new Place();
  const empty = await place.stint('doctor', '--json');
  expect([empty.code, JSON.parse(empty.out)]).toMatchObject([1, [{ about: 'store', level: 'problem' }]]);
  await place.stint('migrate');
  const well = await place.stint('doctor');
  expect(well.code).toBe(0);
  expect(well.out).toMatch(/✓ schema/);
  expect((await place.stint('runs', 'create', 'orphan')).code).toBe(0);
  const ill = await place.stint('doctor');
  expect(ill.code).toBe(1);
  expect(ill.out).toMatch(/✗ types +1 job of type orphan[^]*→ start a worker/);
});

test('bench prints its results and removes its jobs', async () => {
  using place = new Place();
  await place.stint('migrate');
  const { code, out } = await place.stint('bench', '--jobs', '50', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    jobs: 50,
    createPerSecond: expect.any(Number),
    startMs: { p99: expect.any(Number) },
  });
  expect(JSON.parse((await place.stint('runs', 'ls', '--json')).out)).toEqual({ items: [], next: null });
  expect((await place.stint('bench', '--jobs', '0')).code).toBe(2);
});

test('top prints one snapshot when its output is a pipe', async () => {
  using place = new Place();
  await place.stint('migrate');
  await place.stint('runs', 'create', 'orphan');
  expect((await place.stint('top')).out).toMatch(/instances 0[^]*orphan +1 +0 +0/);
  expect(JSON.parse((await place.stint('top', '--json')).out)).toMatchObject({
    tallies: [{ type: 'orphan', count: 1 }],
  });
});

test('top shows a run that waits for its tasks beside many paused runs, and the longest wait', async () => {
  using place = new Place();
  await place.stint('migrate');
  const begun = Promise.withResolvers<void>();
  const split = jobType('split', {
    taskDetails: () => [1],
    taskResults: async ({ signal }) => {
      begun.resolve();
      await new Promise((_, reject) => { signal.addEventListener('abort', () => reject(signal.reason as Error)); });
    },
  });
  const later = jobType('later', { run: () => {} });
  const engine = new Engine({ store: `sqlite:${join(place.folder, '.stint/jobs.db')}`, types: [split, later] });
  await engine.resume();
  const waiting = await engine.createJobRun(split);
  await begun.promise;
  await engine.close({ patience: '0s' });
  const idle = new Engine({ store: `sqlite:${join(place.folder, '.stint/jobs.db')}`, types: [later] });
  for (const run of await idle.createJobRuns(later, Array.from({ length: 130 }, () => ({ delay: '1h' as const })))) {
    await idle.jobs.pause(run.id, { by: 'test' });
  }
  const due = idle.now() - 3_600_000;
  await idle.createJobRun(later, { dueTime: new Date(due) });
  await idle.close();
  const { running, oldestDue } = JSON.parse((await place.stint('top', '--json')).out) as { running: { id: number }[]; oldestDue: number };
  expect(running.map(({ id }) => id)).toEqual([waiting.id]);
  expect(oldestDue).toBe(due);
});

test('the built-in types call URLs and run programs, and refuse what is not allowed', async () => {
  using place = new Place();
  const server = place.start(
    'serve',
    '--http',
    '127.0.0.1:0',
    '--bedrock',
    'off',
    '--http-allow',
    '127.0.0.0/8',
    '--allow-exec',
    process.execPath,
  );
  const [, url] = await server.says(/HTTP +(\S+)/);
  const ran = async (...words: string[]): Promise<{ code: number | null; result: unknown }> => {
    const { id } = JSON.parse((await place.stint(...words, '--json')).out) as { id: number };
    const { code } = await place.stint('runs', 'watch', String(id));
    const { result } = JSON.parse((await place.stint('runs', 'show', String(id), '--json')).out) as { result: unknown };
    return { code, result };
  };
  await place.stint(
    'defs',
    'create',
    'ask health',
    '--type',
    'http',
    '--every',
    '1d',
    '--params',
    JSON.stringify({ url: `${url}/health` }),
  );
  expect(await ran('defs', 'run', 'ask health')).toMatchObject({
    code: 0,
    result: { status: 200, body: { status: 'ok' } },
  });
  const program = JSON.stringify({ command: [process.execPath, '-p', '6 * 7'] });
  expect(await ran('runs', 'create', 'exec', '--input', program)).toMatchObject({
    code: 0,
    result: { stdout: '42\n' },
  });
  expect(await ran('runs', 'create', 'exec', '--input', '{"command":["sh","-c","id"]}')).toMatchObject({ code: 3 });
  expect(await ran('runs', 'create', 'http', '--input', '{"url":"http://169.254.169.254/"}')).toMatchObject({
    code: 3,
  });
  await server.stop();
});

test('resetting and deleting a definition is audited with actor and reason', async () => {
  using place = new Place();
  await place.stint('migrate');
  await place.stint('defs', 'create', 'ask health', '--type', 'http', '--every', '1d');
  const reset = await place.stint('defs', 'reset', 'ask health', '--why', 'the rush is over');
  expect(reset).toMatchObject({ code: 0, out: 'Removed the override of definition ask health\n' });
  await place.stint('defs', 'delete', 'ask health', '--why', 'nobody reads it');
  const { items: records } = JSON.parse((await place.stint('audit', 'ls', '--json')).out) as { items: unknown[] };
  const said = { def: 'ask health', by: expect.stringMatching(/^cli ./) as string };
  expect(records.slice(0, 2)).toMatchObject([
    { ...said, action: 'undefine', why: 'nobody reads it' },
    { ...said, action: 'override', why: 'the rush is over' },
  ]);
  expect((await place.stint('defs', 'reset', 'ask health')).code).toBe(2);
});

test('a token is printed once, listed without its secret, and refused after it was revoked', async () => {
  using place = new Place();
  const { token, ...shown } = JSON.parse(
    (await place.stint('tokens', 'create', 'ada', '--role', 'admin', '--json')).out,
  ) as { token: string };
  expect(shown).toMatchObject({ name: 'ada', role: 'admin', created: expect.any(Number) as number, expires: null });
  expect((await place.stint('tokens', 'create', 'ada', '--role', 'viewer')).code).toBe(2);
  expect((await place.stint('tokens', 'create', 'x', '--role', 'king')).code).toBe(2);
  expect((await place.stint('tokens', 'create', 'x', '--role', 'producer', '--priority-max', 'high')).code).toBe(2);
  const bounded = await place.stint('tokens', 'create', 'ci', '--role', 'producer', '--priority-max', '500', '--json');
  expect(JSON.parse(bounded.out)).toMatchObject({ name: 'ci', priorityMax: 500 });
  const file = join(place.folder, '.stint', 'tokens.json');
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await place.stint('tokens', 'ls')).out).toMatch(/ada +admin +stint_\w{8}…/);

  const server = place.start('serve', '--http', '127.0.0.1:0', '--bedrock', 'off');
  const [, url] = await server.says(/HTTP +(\S+)/);
  const me = (): Promise<number> =>
    fetch(`${url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } }).then(({ status }) => status);
  expect(await me()).toBe(200);
  expect((await fetch(`${url}/api/v1/me`)).status).toBe(401);
  expect((await place.stint('tokens', 'revoke', 'ada')).code).toBe(0);
  while ((await me()) !== 401) await new Promise((resolve) => setTimeout(resolve, 50));
  // Revoking the last token does not open the server to callers on this machine.
  expect((await fetch(`${url}/api/v1/me`)).status).toBe(401);
  const { out, err } = await server.stop();
  expect(out + err).not.toContain(token);
});

test('a reader that closes the pipe early ends a command without an error', async () => {
  const child = spawn(process.execPath, [bin, 'schedule', 'preview', '--every', '1m', '--count', '1000']);
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (bytes: Buffer) => (err += bytes.toString()));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  expect([code, err]).toEqual([0, '']);
});

test('commands that list or follow end quietly in a shell whose reader has enough', async () => {
  using place = new Place();
  await place.stint('migrate');
  await using engine = new Engine({ store: `sqlite:${join(place.folder, '.stint/jobs.db')}`, types: [jobType('mail', { run: () => {} })] });
  await Promise.all(Array.from({ length: 300 }, () => engine.createNamed({ type: 'mail' }, { tags: { a: 'x'.repeat(200) } })));
  const inShell = async (command: string): Promise<string> => {
    const script = `${command.replaceAll('stint', `"${process.execPath}" "${bin}"`)} | head -1 >/dev/null; echo "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', script], { cwd: place.folder });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += bytes.toString()));
    await new Promise((resolve) => child.on('close', resolve));
    return said;
  };
  for (const command of ['stint runs ls --limit 300', 'stint runs ls --limit 300 --json', 'stint audit ls', 'stint top --every 0.2']) {
    expect(await inShell(command), command).toBe('0\n');
  }
  const tail = inShell('stint events tail');
  let hasEnded = false;
  void tail.then(() => (hasEnded = true));
  await until(async () => (await engine.createNamed({ type: 'mail' }, {}), hasEnded));
  expect(await tail).toBe('0\n');
  const watched = await engine.createNamed({ type: 'mail' }, {});
  const watch = inShell(`stint runs watch ${watched.id}`);
  let isOver = false;
  let priority = 0;
  void watch.then(() => (isOver = true));
  await until(async () => (await engine.editJobRun(watched.id, { priority: (priority += 1) }), isOver));
  expect(await watch).toBe('0\n');
});
