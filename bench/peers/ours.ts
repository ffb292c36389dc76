/** Which peers are Stint itself. */
import type { Peer } from './peer.ts';

export const isOurs = (peer: Peer): boolean => peer.package === 'ours';
export const isOurEngine = (peer: Peer): boolean => isOurs(peer) && peer.name.startsWith('Stint engine');
