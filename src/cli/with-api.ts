/** Opens the API for a command: on the server that its flags or the environment name, or else on a store. */
import type { CommandApi } from './api.ts';
import { serverOf, type CommonFlags } from './session.ts';

export async function withApi<T>(flags: CommonFlags, work: (api: CommandApi) => Promise<T>): Promise<T> {
  const api = await openApi(flags);
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}

async function openApi(flags: CommonFlags): Promise<CommandApi> {
  const server = serverOf(flags);
  // Loaded here, because the client needs the schemas of all routes, and the store an adapter.
  if (server !== null) return (await import('./server-api.ts')).serverApi(server);
  return (await import('./store-api.ts')).openStoreApi(flags);
}
