// SIGTERM while the database is away: the server ends in bounded time.
import { expect, test } from 'vitest';
import { Place } from '../cli/stint.ts';
import { migratedDatabase } from '../support/fresh-database.ts';
import { slowness } from '../support/patience.ts';
import { openProxy } from '../support/proxy.ts';

/** Ten seconds after the last handler has ended, with some for the machine. */
const endMaxMs = 15_000 * slowness;

test('a server whose database carries nothing any more ends within seconds of SIGTERM', async () => {
  using place = new Place();
  const proxy = await openProxy(await migratedDatabase());
  try {
    const server = place.start('serve', '--store', proxy.url, '--http', '127.0.0.1:0', '--bedrock', 'off');
    await server.says(/HTTP +http/);
    proxy.swallow();
    proxy.swallowNew();
    const begun = performance.now();
    const ended = await server.stop();
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('other instances take over') as string });
    expect(performance.now() - begun).toBeLessThan(endMaxMs);
  } finally {
    proxy.close();
  }
});
