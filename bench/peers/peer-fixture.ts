/** The fixture of one measurement: a peer, a scratch database, and the child processes that use it. */
import { join } from 'node:path';
import { Child } from '../child.ts';
import type { Peer } from './peer.ts';
import type { PeerScratch } from './peer-database.ts';
import type { PeerRequest } from './peer-process.ts';
import { bunIn, folderOf } from './install.ts';

export const peerProcessModule = join(import.meta.dirname, 'peer-process.ts');

export class PeerFixture {
  readonly peer: Peer;
  readonly scratch: PeerScratch;
  readonly #children: Child<PeerRequest>[] = [];

  constructor(peer: Peer, scratch: PeerScratch) {
    this.peer = peer;
    this.scratch = scratch;
  }

  async startProcess(): Promise<Child<PeerRequest>> {
    const { name, package: source, runtime } = this.peer;
    const folder = source === 'ours' ? '' : folderOf(source);
    const program = runtime === 'bun' ? bunIn(folder) : undefined;
    const child = new Child<PeerRequest>(peerProcessModule, { program, isQuiet: true });
    this.#children.push(child);
    await child.request({ do: 'open', peer: name, location: this.scratch.location, folder });
    return child;
  }

  /** Lets the processes close their queues and exit. */
  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.close({ do: 'close' })));
  }

  async kill(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.kill()));
  }
}

/** Closes the processes after `work`, and kills them if it fails. */
export async function withPeerFixture<T>(
  peer: Peer,
  scratch: PeerScratch,
  work: (fixture: PeerFixture) => Promise<T>,
): Promise<T> {
  const fixture = new PeerFixture(peer, scratch);
  try {
    const result = await work(fixture);
    await fixture.close();
    return result;
  } finally {
    await fixture.kill();
  }
}
