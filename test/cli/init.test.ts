// stint init and stint dev: a new project runs, its test passes, and an edit of its jobs restarts the server.
import { execFile } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { until } from '../http/world.ts';
import { bin, Place, type Started } from './stint.ts';
import { detail } from '../support/detail.ts';

const root = join(bin, '..', '..');

/** A folder in which `npm install stint` was done. */
function installed(): Place {
  const place = new Place();
  mkdirSync(join(place.folder, 'node_modules'));
  symlinkSync(root, join(place.folder, 'node_modules', 'stint'));
  return place;
}

test('stint init creates a project whose test passes', async () => {
  using place = installed();
  const { code, out } = await place.stint('init');
  expect([code, out]).toEqual([0, expect.stringContaining('npx stint dev')]);
  expect(readdirSync(place.folder).sort()).toEqual(['.gitignore', 'jobs.test.ts', 'jobs.ts', 'node_modules', 'package.json']);
  const manifest = JSON.parse(readFileSync(join(place.folder, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ type: 'module', scripts: { dev: 'stint dev', test: 'node --test' } });
  // The runner of a test does not start another one if it finds its own variable.
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, ['--test'], { cwd: place.folder, env });
  expect(stdout).toMatch(/pass 2\n[^]*fail 0\n/);
});

test('stint init changes no file that exists', async () => {
  using place = new Place();
  await place.stint('init', 'new one');
  const before = readFileSync(join(place.folder, 'new one', 'jobs.ts'), 'utf8');
  expect(JSON.parse(readFileSync(join(place.folder, 'new one', 'package.json'), 'utf8')).name).toBe('new-one');
  const { code, err } = await place.stint('init', 'new one');
  expect([code, err]).toEqual([2, expect.stringContaining('it has jobs.ts and jobs.test.ts; choose another folder')]);
  expect(readFileSync(join(place.folder, 'new one', 'jobs.ts'), 'utf8')).toBe(before);
});

test('stint init in a project that says nothing of modules advises to set the type', async () => {
  using place = new Place();
  writeFileSync(join(place.folder, 'package.json'), '{"dependencies":{}}');
  expect((await place.stint('init')).out).toContain('npm pkg set type=module');
  expect(readFileSync(join(place.folder, 'package.json'), 'utf8')).toBe('{"dependencies":{}}');
});

detail('stint dev restarts when the jobs change, and stops on SIGTERM', async () => {
  using place = installed();
  await place.stint('init');
  const server = place.start('dev', '--http', '127.0.0.1:0', '--bedrock', 'off');
  expect(await typesOf(server, 1)).toEqual(['greet']);
  appendFileSync(join(place.folder, 'jobs.ts'), "export const added = jobType('added', { run: () => 1 });\n");
  expect(await typesOf(server, 2)).toEqual(['added', 'greet']);
  expect((await server.stop()).code).toBe(0);
});

/** The types of the server after its nth start. */
async function typesOf(server: Started, start: number): Promise<string[]> {
  const [, url] = await server.says(new RegExp(`(?:HTTP +(http:\\S+)[^]*?){${start}}`));
  let names: string[] = [];
  await until(async () => {
    const { items } = await (await fetch(`${url}/api/v1/types`)).json() as { items: { name: string; instances: number }[] };
    names = items.map(({ name }) => name).filter((name) => ['greet', 'added'].includes(name)).sort();
    return names.length === start;
  });
  return names;
}
