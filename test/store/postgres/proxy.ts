// A proxy before the server for the length of a test.
import { onTestFinished } from 'vitest';
import { openProxy, type Proxy } from '../../support/proxy.ts';

export type { Proxy };

export async function proxyTo(serverUrl: string): Promise<Proxy> {
  const proxy = await openProxy(serverUrl);
  onTestFinished(() => proxy.close());
  return proxy;
}
