// What goes wrong on the first day is told in a sentence that says what to do.
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Place } from './stint.ts';


test.each(['--http', '--bedrock'])('a port that is taken is told with what to say for another: %s', async (flag) => {
  using place = new Place();
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const off = flag === '--http' ? '--bedrock' : '--http';
  const { code, err } = await place.stint('serve', flag, `127.0.0.1:${port}`, off, 'off');
  expect(code).toBe(2);
  expect(err).toContain(`cannot listen on 127.0.0.1:${port}: something else does`);
  expect(err).toContain(`say ${flag} 127.0.0.1:0 for a free port`);
  other.close();
});

test('a file of jobs that is not there is told by its name', async () => {
  using place = new Place();
  const { code, err } = await place.stint('serve', '--jobs', 'jbos.ts');
  expect(code).toBe(2);
  expect(err).toBe('stint: there is no file jbos.ts here to load jobs from (malformed.option)\n');
});

test('a run of a type that nobody knows is created, and told to wait', async () => {
  using place = new Place();
  const { code, out } = await place.stint('runs', 'create', 'gret', '--input', '{}');
  expect(code).toBe(0);
  expect(out).toContain('it waits: no live instance has the job type gret: start one that has it');
});
