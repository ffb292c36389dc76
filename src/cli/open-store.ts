/**
 * Opens the store of a command. The adapters are imported only when a store is opened, because their import takes most
 * of the time of a short command.
 */
import type { OpenStoreOptions } from '../open/store.ts';
import type { Store } from '../store/store.ts';

export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const stores = await import('../open/store.ts');
  return stores.openStore(url, options);
}
