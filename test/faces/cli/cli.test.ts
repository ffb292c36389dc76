import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { Place } from './stint.ts';

// Every command is a process that strips its types: a busy machine takes seconds for each.
vi.setConfig({ testTimeout: 240_000 });

const hello = fileURLToPath(new URL('../../../examples/hello/jobs.ts', import.meta.url));

test('help names every command and the version is that of the package', async () => {
  using place = new Place();
  const help = await place.stint('--help');
  expect(help.code).toBe(0);
  for (const command of ['serve', 'work', 'migrate', 'runs', 'defs', 'types', 'instances', 'events', 'schedule']) expect(help.out).toContain(command);
  expect((await place.stint('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('what is refused is told in a sentence, with exit code 2 and no stack', async () => {
  using place = new Place();
  for (const words of [['runs', 'show', 'abc'], ['runs', 'show', '7'], ['defs', 'show', 'nothing'], ['runs', 'ls', '--state', 'odd'], ['runs', 'ls', '--store', 'mysql://x']]) {
    const { code, err } = await place.stint(...words);
    expect(code, words.join(' ')).toBe(2);
    expect(err).toMatch(/^stint: .+ \([a-z.]+\)\n$/);
  }
});

test('a migration can be seen before it is made, and is made once', async () => {
  using place = new Place();
  expect((await place.stint('migrate', '--dry-run')).out).toContain('CREATE TABLE job');
  expect((await place.stint('migrate')).out).toMatch(/schema 0 → \d+/);
  expect((await place.stint('migrate')).out).toContain('is current');
});

test('the next ticks of a schedule tell what daylight saving does to them', async () => {
  using place = new Place();
  const { code, out } = await place.stint('schedule', 'preview', '--cron', '30 2 * * *', '--zone', 'Europe/Berlin', '--count', '3', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toHaveLength(3);
  const bad = await place.stint('schedule', 'preview', '--cron', '61 * * * *');
  expect(bad).toMatchObject({ code: 2 });
});

test('a server runs the jobs of a file, answers over HTTP, and ends cleanly when asked', async () => {
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
  expect(JSON.parse((await place.stint('runs', 'events', String(id), '--json')).out)).toMatchObject([{ kind: 'created' }, { kind: 'claimed' }, { kind: 'succeeded' }]);
  expect((await place.stint('runs', 'log', String(id))).out).toContain('greeting Ada');

  expect(await server.stop()).toMatchObject({ code: 0 });
});
