// Mistakes of the first day are reported with what to do about them.
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Place } from './stint.ts';

test.each(['--http', '--bedrock', '--health'] as const)('a port in use is reported with the flag for a free one: %s', async (flag) => {
  using place = new Place();
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const others = { '--http': ['serve', '--bedrock', 'off'], '--bedrock': ['serve', '--http', 'off'], '--health': ['work'] };
  const { code, err } = await place.stint(...others[flag], flag, `127.0.0.1:${port}`);
  expect(code).toBe(2);
  expect(err).toContain(`cannot listen on 127.0.0.1:${port}: the port is in use`);
  expect(err).toContain(`use ${flag} 127.0.0.1:0 for a free port`);
  other.close();
});

test('a missing file of jobs is reported by name', async () => {
  using place = new Place();
  const { code, err } = await place.stint('serve', '--jobs', 'jbos.ts');
  expect(code).toBe(2);
  expect(err).toBe('stint: cannot load jobs from jbos.ts: no such file (malformed.option)\n');
});

test('a run of an unknown type is created with a warning that it waits', async () => {
  using place = new Place();
  await place.stint('migrate');
  const { code, out } = await place.stint('runs', 'create', 'gret', '--input', '{}');
  expect(code).toBe(0);
  expect(out).toContain(`Created run 1 (gret). Follow it: stint runs watch 1`);
  expect(out).toMatch(/^Warning: .*\bgret\b/m);
});
