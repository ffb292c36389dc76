// Every example ends well by the one command that stands in examples/README.md, and says what it is there to say.
import { connect } from 'node:net';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { readPage, root } from './page.ts';
import { Project } from './project.ts';

vi.setConfig({ maxConcurrency: 3 });

const project = new Project();
afterAll(() => project[Symbol.dispose]());

const outputs = new Map<string, Promise<string>>();

/** What it prints; each is run once. */
function outputOf(example: string): Promise<string> {
  const output = outputs.get(example) ?? run(example);
  outputs.set(example, output);
  return output;
}

async function run(example: string): Promise<string> {
  const { code, out } = await project.run(process.execPath, [join(root, 'examples', example)], { cwd: example });
  expect(code, out).toBe(0);
  return out;
}

test.concurrent.each([
  ['quick/quick.ts', '{ sent: 5 }'],
  ['fan-out/fan-out.ts', 'made: 196'],
  ['order-mail/order-mail.ts', 'the card of bob@example.org was declined\norders: 1, runs: 1'],
  ['nightly/nightly.ts', '29/03, 03:00 CEST\n'],
  ['nightly/nightly.ts', '25/10, 02:30 CEST\n  26/10, 02:30 CET\n'],
  ['bedrock-client/bedrock-client.ts', '"state":"QUEUED"'],
  ['isolate/stop.ts', 'was cancelled: changed my mind\n'],
  ['isolate/stop.ts', 'was cancelled: it spins (terminated)\n'],
])('%s says %s', async (example, words) => {
  expect(await outputOf(example)).toContain(words);
});

test('embed/server.ts serves a page of its own, and the jobs to whom it knows', async () => {
  const own = { cwd: 'embed', env: { PORT: '0' } };
  const server = await project.start([join(root, 'examples/embed/server.ts')], /http:\S+/, own);
  const url = server.said[0];
  const page = await fetch(url);
  const cookie = page.headers.get('set-cookie')!.split(';')[0]!;
  expect(await page.text()).toContain('signed in as Ada');
  const defs = await fetch(`${url}/jobs/api/v1/defs`, { headers: { cookie } });
  expect(await defs.text()).toContain('sweep every minute');
  expect((await fetch(`${url}/jobs/api/v1/defs`)).status).toBe(401);
  expect(await server.stop()).toBe(0);
});

test('the jobs of hello are served, over HTTP and to Bedrock clients', async () => {
  const args = [join(root, 'bin/stint.js'), 'serve', '--http', '127.0.0.1:0', '--bedrock', '127.0.0.1:0'];
  const jobs = ['--jobs', join(root, 'examples/hello/jobs.ts')];
  const server = await project.start([...args, ...jobs], /HTTP +(\S+)[^]*Bedrock +\S+:(\d+)/, { cwd: 'hello' });
  const [, url = '', port = ''] = server.said;
  expect(await (await fetch(`${url}/api/v1/types`)).text()).toContain('squares');
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8');
  socket.write('Ping\n\n');
  expect(await new Promise((resolve) => socket.once('data', resolve))).toContain('200 OK');
  socket.destroy();
  expect(await server.stop()).toBe(0);
});

test('every example stands in the list of examples with its command', () => {
  const { text } = readPage('examples/README.md');
  const folders = globSync('*/', { cwd: join(root, 'examples') }).map((folder) => folder.replace(/\/$/, ''));
  for (const folder of folders) expect(text).toContain(`](${folder}/`);
});

test('no example imports the sources: a program that has installed Stint can do the same', () => {
  for (const file of globSync('examples/**/*.ts', { cwd: root })) {
    expect(readFileSync(join(root, file), 'utf8'), file).not.toMatch(/from '(\.\.\/)+src\//);
  }
});
