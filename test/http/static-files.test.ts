// Static files: only the files of the dashboard's folder are served.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StaticFiles } from '../../src/http/static-files.ts';
import { records, world, type World } from './world.ts';

let folder: string;
let server: World;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stint-pages-'));
  await mkdir(join(folder, 'dist', 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(
    join(folder, 'dist', 'index.html'),
    '<!doctype html><title>dashboard</title><script src="./assets/app.js"></script>',
  );
  await writeFile(join(folder, 'dist', 'assets', 'app.js'), 'export {};');
  await writeFile(join(folder, 'dist', 'notes.exe'), 'no');
  await symlink(join(folder, 'secret.txt'), join(folder, 'dist', 'link.txt'));
  server = await world({ isIdle: true, dashboard: join(folder, 'dist'), access: { tokens: records } });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

test('the dashboard is served without a token, on all of its paths', async () => {
  for (const path of ['/', '/runs', '/runs/12', '/defs/nightly']) {
    const { status, body, headers } = await server.get(path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(body).toContain('dashboard');
  }
  const script = await server.get('/assets/app.js');
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('cache-control')).toContain('immutable');
});

test('a page refers to its files by relative URLs', async () => {
  for (const [path, script] of [['/', './assets/app.js'], ['/runs', './assets/app.js'], ['/runs/12', '../assets/app.js']]) {
    expect((await server.get(path!)).body).toContain(`<script src="${script}">`);
  }
});

test.each(['/link.txt', '/notes.exe', '/../secret.txt', '/%2e%2e/secret.txt', '/..%2fsecret.txt', '/assets/..%5c..%5csecret.txt', '/missing.js'])(
  '%s is not there',
  async (path) => {
    const { status, body } = await server.get(path);
    expect(status).toBe(401);
    expect(JSON.stringify(body)).not.toContain('"secret"');
  },
);

test('without a folder, one plain page is served', async () => {
  for (const none of [null, join(folder, 'nowhere')]) {
    const pages = new StaticFiles(none);
    expect(await pages.answer('/')!.text()).toContain('<h1>Stint</h1>');
    expect(pages.answer('/runs')).toBeNull();
  }
});
