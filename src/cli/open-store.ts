/**
 * Opens the store of a command. Only the adapter of its URL is imported, and only when a store is opened, because the
 * import takes most of the time of a short command.
 */
import { loadOpener } from '../open/load-opener.ts';
import type { OpenerOptions } from '../open/opener.ts';
import type { Store } from '../store/store.ts';

export async function openStore(url: string, options: Partial<OpenerOptions> = {}): Promise<Store> {
  const open = await loadOpener(url);
  return open({ url, options: {} }, { create: true, ...options });
}
