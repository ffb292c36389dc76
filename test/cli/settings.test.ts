// Settings of `serve` and `work`: from the command line, from variables, or defaults.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { version } from '../../src/version.ts';
import { Place } from './stint.ts';

/** The rows of `--print-config`: by setting, its value and its source. */
const rowsIn = (out: string): Record<string, readonly string[]> =>
  Object.fromEntries(out.trimEnd().split('\n').map((line) => line.split(/ {2,}/)).map(([name, ...rest]) => [name, rest]));

test('a server can be configured by variables alone', async () => {
  using place = new Place();
  const variables = {
    STINT_DATABASE_URL: 'sqlite:by-variable.db', STINT_HTTP: '127.0.0.1:0', STINT_BEDROCK: 'off', STINT_INSTANCE: 'ann',
  };
  const server = place.startWith(variables, 'serve');
  const [, url] = await server.says(/HTTP +(\S+) /);
  const { items } = (await (await fetch(`${url}/api/v1/instances`)).json()) as { items: { id: string }[] };
  expect(items.map(({ id }) => id)).toEqual(['ann']);
  const { code, out } = await server.stop();
  expect(code).toBe(0);
  expect(out).toContain('sqlite:by-variable.db');
  expect(out).not.toContain('Bedrock');
});

test('the URL of the store may be in a file, and an empty variable counts as not set', async () => {
  using place = new Place();
  writeFileSync(join(place.folder, 'url'), 'postgres://a:planted@db/app\n');
  const variables = {
    STINT_DATABASE_URL: '', STINT_DATABASE_URL_FILE: 'url', DATABASE_URL: 'sqlite:other.db', STINT_SCHEMA: '',
  };
  const { out } = await place.startWith(variables, 'work', '--print-config').ended();
  expect(rowsIn(out)).toMatchObject({
    store: ['postgres://a:…@db/app', 'STINT_DATABASE_URL_FILE'],
    'store: schema': ['–', 'default'],
  });
  const { code, err } = await place.startWith({ STINT_DATABASE_URL_FILE: 'nowhere' }, 'work').ended();
  expect(code).toBe(2);
  expect(err).toBe('stint: cannot read the file that STINT_DATABASE_URL_FILE names: ENOENT (malformed.store)\n');
});

test('a worker answers health checks where it is told to', async () => {
  using place = new Place();
  const worker = place.startWith({ STINT_HEALTH: '127.0.0.1:0' }, 'work');
  const [, url] = await worker.says(/health checks: (\S+)\/health/);
  const statusOf = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: 'ok', version });
  expect(await Promise.all(['/', '/metrics', '/api/v1/runs'].map(statusOf))).toEqual([200, 404, 404]);
  rmSync(join(place.folder, '.stint'), { recursive: true });
  await expect.poll(() => statusOf('/health')).toBe(503);
  expect(await statusOf('/')).toBe(200);
  await worker.kill();
});

test('--print-config shows each setting and where it comes from, and no secret', async () => {
  using place = new Place();
  const variables = {
    STINT_SLOTS: '4', STINT_LEASE: '20s', STINT_RETENTION: '', STINT_INSECURE: 'false', STINT_BEHIND_TLS: '1',
    STINT_ALLOW_EXEC: 'true, echo', STINT_EXEC_ENV: '["TOKEN=planted-1,planted-2"]', STINT_TOKENS: '[{"secret":"planted-3"}]',
    STINT_LISTEN_URL: 'postgres://u:planted-4@h/db', STINT_SCHEMA: 'jobs', STINT_SILENCE_MS: '900',
  };
  const words = ['--slots', '8', '--print-config', '--store', 'postgres://a:planted-5@db-1,db-2/app?schema=own'];
  const { code, out, err } = await place.startWith(variables, 'serve', ...words).ended();
  expect([code, err]).toEqual([0, '']);
  expect(rowsIn(out)).toMatchObject({
    store: ['postgres://a:…@db-1,db-2/app', '--store'],
    slots: ['8', '--slots'],
    lease: ['20s', 'STINT_LEASE'],
    retention: ['30d', 'default'],
    insecure: ['false', 'STINT_INSECURE'],
    'behind-tls': ['true', 'STINT_BEHIND_TLS'],
    'allow-exec': ['true, echo', 'STINT_ALLOW_EXEC'],
    'exec-env': ['TOKEN=…', 'STINT_EXEC_ENV'],
    tokens: ['JSON', 'STINT_TOKENS'],
    'store: schema': ['own', 'URL'],
    'store: silenceMs': ['900', 'STINT_SILENCE_MS'],
    'store: listenUrl': ['postgres://u:…@h/db', 'STINT_LISTEN_URL'],
  });
  expect(out).not.toContain('planted');
});

test('a wrong variable is refused, and a misspelt one is reported with the right name', async () => {
  using place = new Place();
  const wrong = await Promise.all([
    place.startWith({ STINT_SLOT: '4', STINT_INSECURE: 'maybe' }, 'serve').ended(),
    place.startWith({ STINT_SLOTS: 'many' }, 'work').ended(),
    place.startWith({ STINT_JOBS: '[1]' }, 'work').ended(),
  ]);
  expect(wrong.map(({ code }) => code)).toEqual([2, 2, 2]);
  expect(wrong.map(({ err }) => err.trimEnd())).toEqual([
    'stint: STINT_SLOT is no setting; did you mean STINT_SLOTS?\n' +
      'stint: STINT_INSECURE must be true or false, not "maybe" (malformed.option)',
    'stint: --slots must be a whole number, not "many" (malformed.option)',
    'stint: STINT_JOBS must be a list with commas or a JSON array of texts (malformed.option)',
  ]);
});
